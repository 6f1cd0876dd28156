"""The hardware counters that diagnosis rests on, by Nsight Compute's own names.

Every entry has a reader in `optimizer/bottleneck.py` or in a detector; `docs/counters.md` says
which and what the whole list costs. Names without a dot would make ncu stop where a GPU lacks
them, names with one are left out of the report silently; so only the latter are asked for, and
the others arrive with the two sections.
"""

from __future__ import annotations

SECTIONS = ("SourceCounters", "WarpStateStats")

TIME_NS = "gpu__time_duration.sum"
SM_CLOCK_HZ = "sm__cycles_elapsed.avg.per_second"
CYCLES_ELAPSED = "sm__cycles_elapsed.max"
CYCLES_ACTIVE = "sm__cycles_active.avg"

DRAM_PCT = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
DRAM_READ_BYTES = "dram__bytes_read.sum"
DRAM_WRITE_BYTES = "dram__bytes_write.sum"
L2_PCT = "lts__throughput.avg.pct_of_peak_sustained_elapsed"
L2_SECTORS = "lts__t_sectors_srcunit_tex.sum"
L2_HIT_PCT = "lts__t_sector_hit_rate.pct"
L2_ATOMIC_SECTORS = "lts__t_sectors_op_atom.sum"
L2_REDUCTION_SECTORS = "lts__t_sectors_op_red.sum"
L1_PCT = "l1tex__throughput.avg.pct_of_peak_sustained_elapsed"
L1_HIT_PCT = "l1tex__t_sector_hit_rate.pct"
L1_DATA_PCT = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"

LOAD_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
LOAD_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
STORE_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
STORE_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
ATOMIC_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"
REDUCTION_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"
LOCAL_LOAD_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"
LOCAL_STORE_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"
GLOBAL_SECTORS = "memory_l2_theoretical_sectors_global"
GLOBAL_SECTORS_IDEAL = "memory_l2_theoretical_sectors_global_ideal"
SHARED_WAVEFRONTS = "memory_l1_wavefronts_shared"
SHARED_WAVEFRONTS_IDEAL = "memory_l1_wavefronts_shared_ideal"
SHARED_ATOMIC_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum"
SHARED_ATOMIC_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"

INSTRUCTIONS = "smsp__inst_executed.sum"
ISSUE_PCT = "smsp__issue_active.avg.pct_of_peak_sustained_active"
ISSUE_ELAPSED_PCT = "sm__inst_issued.avg.pct_of_peak_sustained_elapsed"
THREADS_ACTIVE = "smsp__thread_inst_executed_per_inst_executed.ratio"
THREADS_USED = "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"
BRANCH_UNIFORM_PCT = "smsp__sass_average_branch_targets_threads_uniform.pct"
WARP_LATENCY = "smsp__average_warp_latency_per_inst_issued.ratio"
OCCUPANCY_PCT = "sm__warps_active.avg.pct_of_peak_sustained_active"
OCCUPANCY_LIMIT_PCT = "sm__maximum_warps_per_active_cycle_pct"

ALU_PCT = "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active"
FMA_PCT = "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"
FP64_PCT = "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active"
LSU_PCT = "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active"
XU_PCT = "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"
TENSOR_PCT = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"

FP32_ADD = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"
FP32_MUL = "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"
FP32_FMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
FP64_ADD = "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum"
FP64_MUL = "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum"
FP64_FMA = "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"
FP16_ADD = "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum"
FP16_MUL = "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum"
FP16_FMA = "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum"
TENSOR_FP16_OPS = "sm__ops_path_tensor_src_fp16.sum"
TENSOR_BF16_OPS = "sm__ops_path_tensor_src_bf16_dst_fp32.sum"
TENSOR_TF32_OPS = "sm__ops_path_tensor_src_tf32_dst_fp32.sum"
INTEGER_THREAD_INSTRUCTIONS = "smsp__sass_thread_inst_executed_op_integer_pred_on.sum"
THREAD_INSTRUCTIONS = "smsp__thread_inst_executed_pred_on.sum"

GRID_BLOCKS = "launch__grid_size"
BLOCK_THREADS = "launch__block_size"
WAVES = "launch__waves_per_multiprocessor"
REGISTERS = "launch__registers_per_thread"
SHARED_BLOCK_BYTES = "launch__shared_mem_per_block"
SMS = "launch__sm_count"
LIMIT_BLOCKS = "launch__occupancy_limit_blocks"
LIMIT_REGISTERS = "launch__occupancy_limit_registers"
LIMIT_SHARED = "launch__occupancy_limit_shared_mem"
LIMIT_WARPS = "launch__occupancy_limit_warps"

STALL_REASONS = (
    "barrier",
    "branch_resolving",
    "dispatch_stall",
    "drain",
    "gmma",
    "imc_miss",
    "lg_throttle",
    "long_scoreboard",
    "math_pipe_throttle",
    "membar",
    "mio_throttle",
    "misc",
    "no_instruction",
    "not_selected",
    "selected",
    "short_scoreboard",
    "sleeping",
    "tex_throttle",
    "wait",
)


def stall(reason: str) -> str:
    """Return the counter of a stall reason: warps in that state per issued instruction."""
    return f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"


# Asked for by name. What `SECTIONS` and every launch bring along is in `BROUGHT`.
METRICS = (
    *(TIME_NS, SM_CLOCK_HZ, CYCLES_ELAPSED, CYCLES_ACTIVE, DRAM_PCT, DRAM_READ_BYTES),
    *(DRAM_WRITE_BYTES, L2_PCT, L2_SECTORS, L2_HIT_PCT, L2_ATOMIC_SECTORS, L2_REDUCTION_SECTORS),
    *(L1_PCT, L1_HIT_PCT, L1_DATA_PCT, LOAD_SECTORS, LOAD_REQUESTS, STORE_SECTORS),
    *(STORE_REQUESTS, ATOMIC_REQUESTS, REDUCTION_REQUESTS, LOCAL_LOAD_SECTORS),
    *(LOCAL_STORE_SECTORS, SHARED_ATOMIC_CONFLICTS, SHARED_ATOMIC_WAVEFRONTS, INSTRUCTIONS),
    *(ISSUE_PCT, ISSUE_ELAPSED_PCT, OCCUPANCY_PCT, ALU_PCT, FMA_PCT, FP64_PCT, LSU_PCT, XU_PCT),
    *(TENSOR_PCT, FP32_ADD, FP32_MUL, FP32_FMA, FP64_ADD, FP64_MUL, FP64_FMA, FP16_ADD),
    *(FP16_MUL, FP16_FMA, TENSOR_FP16_OPS, TENSOR_BF16_OPS, TENSOR_TF32_OPS),
    *(INTEGER_THREAD_INSTRUCTIONS, THREAD_INSTRUCTIONS),
)
BROUGHT = (
    *(
        BRANCH_UNIFORM_PCT,
        THREADS_ACTIVE,
        THREADS_USED,
        WARP_LATENCY,
        OCCUPANCY_LIMIT_PCT,
        GLOBAL_SECTORS,
    ),
    *(GLOBAL_SECTORS_IDEAL, SHARED_WAVEFRONTS, SHARED_WAVEFRONTS_IDEAL, GRID_BLOCKS),
    *(BLOCK_THREADS, WAVES, REGISTERS, SHARED_BLOCK_BYTES, SMS, LIMIT_BLOCKS, LIMIT_REGISTERS),
    *(LIMIT_SHARED, LIMIT_WARPS),
    *(stall(reason) for reason in STALL_REASONS),
)
KEPT = frozenset((*METRICS, *BROUGHT))
