#!/usr/bin/env bash
# One benchmark on every node of a Slurm job: one process per node, one result file per node.
#
#   sbatch --nodes=2 slurm/benchmark_streaming.sh --repo_id OWNER/NAME --mode sarm --source hub --out_dir results
#
# All arguments go to benchmark_streaming.py. Environment:
#   PYTHON      interpreter of the environment that has pytest-videodecode (default: python3)
#   LAUNCHER    accelerate or torchrun (default: accelerate)
#   PORT        where the nodes meet, on the first of them (default: 29500 + job id mod 1000)
#   BENCHMARK   path of benchmark_streaming.py, where it does not lie above this script
#   DRY_RUN     if not empty, print the command of each node and run nothing
#SBATCH --job-name=benchmark-streaming
#SBATCH --ntasks-per-node=1
#SBATCH --output=%x-%j.out
set -euo pipefail

python=${PYTHON:-python3}
launcher=${LAUNCHER:-accelerate}
nodes=${SLURM_JOB_NUM_NODES:-1}
port=${PORT:-$((29500 + ${SLURM_JOB_ID:-0} % 1000))}

# Slurm runs a copy of this script from its own folder, so that the benchmark is sought from where sbatch was called.
benchmark=${BENCHMARK:-}
for folder in "$(dirname "${BASH_SOURCE[0]}")/.." "${SLURM_SUBMIT_DIR:-.}" "${SLURM_SUBMIT_DIR:-.}/benchmarks/streaming"; do
    if [[ -z $benchmark && -f $folder/benchmark_streaming.py ]]; then
        benchmark=$folder/benchmark_streaming.py
    fi
done
if [[ -z $benchmark ]]; then
    echo "benchmark_streaming.py not found; set BENCHMARK to its path" >&2
    exit 2
fi

head_node=127.0.0.1
if ((nodes > 1)) && [[ -n ${SLURM_JOB_NODELIST:-} ]]; then
    head_node=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
    # its address as Slurm knows it: the name need not be known to anything else
    head_node=$(scontrol show node "$head_node" | sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p')
fi

# --multi_gpu has accelerate start its processes as torchrun does, which tells them their rank; no GPU is needed for it.
case $launcher in
accelerate)
    launch=("$python" -m accelerate.commands.launch --multi_gpu --mixed_precision no --dynamo_backend no
        --num_machines "$nodes" --num_processes "$nodes" --main_process_ip "$head_node" --main_process_port "$port"
        --machine_rank)
    ;;
torchrun)
    launch=("$python" -m torch.distributed.run --nproc_per_node 1 --nnodes "$nodes" --master_addr "$head_node"
        --master_port "$port" --node_rank)
    ;;
*)
    echo "LAUNCHER is '$launcher'; give accelerate or torchrun" >&2
    exit 2
    ;;
esac
if ((nodes == 1)); then
    launch=("$python")
    command=("${launch[@]}" "$benchmark" "$@")
else
    # Each task knows its own place only when it runs.
    # shellcheck disable=SC2016
    command=(bash -c 'place=$1; shift; exec "${@:1:place}" "${SLURM_NODEID:-0}" "${@:place+1}"' launch
        "${#launch[@]}" "${launch[@]}" "$benchmark" "$@")
fi

if [[ -n ${DRY_RUN:-} ]]; then
    for ((node = 0; node < nodes; node++)); do
        if ((nodes == 1)); then
            echo "node $node: ${command[*]}"
        else
            echo "node $node: ${launch[*]} $node $benchmark $*"
        fi
    done
    exit 0
fi
srun --ntasks="$nodes" --ntasks-per-node=1 --kill-on-bad-exit=1 "${command[@]}"
