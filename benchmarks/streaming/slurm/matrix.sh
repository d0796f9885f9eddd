#!/usr/bin/env bash
# The matrix of the benchmark: a job for each source, frame mode and number of nodes.
#
#   OUT_DIR=results slurm/matrix.sh --batch_size 64 --num_workers 12 --num_batches 200
#
# All arguments go to every job. Environment (lists are separated by blanks):
#   SOURCES          which of hub, bucket, warmed_bucket (default: those whose place is given)
#   MODES            default: single sarm
#   NODES            default: 1 2
#   REPO_ID          data set on the Hub, OWNER/NAME; its metadata serves the buckets too
#   BUCKET           hf://buckets/OWNER/NAME
#   WARMED_BUCKET    the same, prewarmed beforehand in the settings of the bucket
#   OUT_DIR          default: results; each job writes OUT_DIR/SOURCE_MODE_nN
#   SBATCH_OPTIONS   more for sbatch, such as "--partition=cpu --cpus-per-task=16"
#   DRY_RUN          if not empty, print the commands and submit nothing
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
script=$here/benchmark_streaming.sh
export BENCHMARK=${BENCHMARK:-${here%/*}/benchmark_streaming.py} # the jobs run a copy of the script from elsewhere
out_dir=${OUT_DIR:-results}
repo_id=${REPO_ID:?set REPO_ID to OWNER/NAME of the data set}
declare -A files=([hub]="" [bucket]=${BUCKET:-} [warmed_bucket]=${WARMED_BUCKET:-})
default="hub${BUCKET:+ bucket}${WARMED_BUCKET:+ warmed_bucket}"
read -ra sources <<<"${SOURCES:-$default}"
read -ra modes <<<"${MODES:-single sarm}"
read -ra node_counts <<<"${NODES:-1 2}"
read -ra options <<<"${SBATCH_OPTIONS:-}"

for source in "${sources[@]}"; do
    if [[ ! -v files[$source] ]]; then
        echo "SOURCES: '$source' is none of hub, bucket, warmed_bucket" >&2
        exit 2
    fi
    if [[ $source != hub && -z ${files[$source]} ]]; then
        echo "SOURCES: $source needs ${source^^} set to hf://buckets/OWNER/NAME" >&2
        exit 2
    fi
done

for source in "${sources[@]}"; do
    for mode in "${modes[@]}"; do
        for nodes in "${node_counts[@]}"; do
            words=(--repo_id "$repo_id" --source "$source" --mode "$mode"
                --out_dir "$out_dir/${source}_${mode}_n$nodes" "$@")
            if [[ -n ${files[$source]} ]]; then
                words+=(--data_files_root "${files[$source]}")
            fi
            submit=(sbatch --nodes="$nodes" "${options[@]}" "$script" "${words[@]}")
            if [[ -n ${DRY_RUN:-} ]]; then
                echo "${submit[*]}"
            else
                "${submit[@]}"
            fi
        done
    done
done
echo "when they are done: benchmark_streaming.py summarize $out_dir/*_n* --out_dir $out_dir" >&2
