#!/bin/sh
# Submits a sweep to Slurm: an array job with a task for each share of the points, and a job that makes
# the results when all shares have ended.
#
#   sweep.sh SHARES SWEEP.yaml [OPTION...]       options of xoff sweep, such as --seeds or -o DIR
#
# XOFF is the program (default: xoff), XOFF_CACHE the folder that the machines share (default: cache, in
# the current folder, which must be on a file system that all of them see). SBATCH_* variables and
# #SBATCH defaults of the site apply: partition, account, time limit. A share that was cancelled or
# preempted is submitted again by repeating the command: what had ended is not run again.
set -eu
if [ $# -lt 2 ]; then
    echo "usage: $0 SHARES SWEEP.yaml [OPTION...]" >&2
    exit 2
fi
shares=$1 sweep=$2
shift 2
XOFF=${XOFF:-xoff}
cache=${XOFF_CACHE:-$PWD/cache}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
export XOFF

array=$(sbatch --parsable --array="1-$shares" --cpus-per-task="${CPUS:-1}" --output="sweep-share-%a.log" \
    "$here/share.sbatch" "$shares" "$sweep" --cache "$cache" "$@")
array=${array%%;*} # the cluster's name may follow
# afterany: a share with a failed run ends with status 1, and its runs are told again here.
collect=$(sbatch --parsable --dependency="afterany:$array" --output="sweep-collect.log" \
    "$here/collect.sbatch" "$sweep" --cache "$cache" "$@")
echo "shares: job $array, tasks 1 to $shares, sweep-share-*.log"
echo "results: job ${collect%%;*}, sweep-collect.log"
