"""Where the files of a data set lie: a folder, the Hub, a bucket, any fsspec URL."""
