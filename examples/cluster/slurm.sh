#!/bin/bash
#SBATCH --nodes=4 --ntasks-per-node=1 --gpus-per-node=1 --cpus-per-task=8 --time=04:00:00
# Run the grid on the machines of a Slurm job. Options are those of `algotransfer reproduce`:
#
#     sbatch slurm.sh --folder "$SCRATCH/runs" --for 3.8h
set -euo pipefail
port=${RAY_PORT:-6379}
read -r head < <(scontrol show hostnames "$SLURM_JOB_NODELIST")  # the first machine
workers=$((SLURM_NNODES - 1))
cores=--num-cpus=$SLURM_CPUS_PER_TASK  # cores of this job, not of the machine
trap 'kill $(jobs -p)' EXIT
# Ray runs programs of everyone who knows this token.
RAY_AUTH_TOKEN=$(python -c 'import secrets; print(secrets.token_hex(32))')
export RAY_AUTH_TOKEN RAY_AUTH_MODE=token

srun --nodes=1 --ntasks=1 -w "$head" ray start --head --port="$port" "$cores" --block &
if [ "$workers" -gt 0 ]; then
  srun --nodes=$workers --ntasks=$workers -x "$head" \
    ray start --address="$head:$port" "$cores" --block &
fi

# Wait for all machines: the number of concurrent steps is computed once, from the resources then.
python - "$head:$port" "$SLURM_NNODES" <<'WAIT'
import sys, time
import ray

address, count = sys.argv[1], int(sys.argv[2])
ray.init(address, log_to_driver=False, configure_logging=False)
for _ in range(120):
    if sum(node["Alive"] for node in ray.nodes()) == count:
        sys.exit()
    time.sleep(1)
sys.exit(f"not all {count} machines have joined Ray at {address}; see the output above")
WAIT

algotransfer reproduce --executor ray --address "$head:$port" "$@"
