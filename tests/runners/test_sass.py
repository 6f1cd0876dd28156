"""Resource usage and opcode counts are read from what the tools print."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runners.sass import histogram, resources

PTXAS = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z4scanIdLi128EEvPT_i' for 'sm_90'
ptxas info    : Function properties for _Z4scanIdLi128EEvPT_i
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 12 registers, used 1 barriers, 1024 bytes smem
ptxas info    : Compiling entry function '_Z4scanIfLi256EEvPT_i' for 'sm_90'
ptxas info    : Function properties for _Z4scanIfLi256EEvPT_i
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, 512+256 bytes smem, 380 bytes cmem[0]
ptxas info    : Function properties for _Z1ff
    400 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
"""
NVDISASM = """\t.target\tsm_90
_Z5saxpyifPKfPf:
.text._Z5saxpyifPKfPf:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 LDG.E.128 R4, desc[UR6][R2.64] ;
        /*0020*/              @UP1 LDG.E.128.CONSTANT R4, desc[UR6][R2.64] ;
        /*0030*/                   EXIT ;
.L_x_0:
        /*0090*/                   BRA `(.L_x_0);
        /*00a0*/                   NOP;
.L_x_9:
"""
CUOBJDUMP = """
\t\tFunction : _ZN1q3fooEPd
\t.headerflags\t@"EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;              /* 0x00000a00ff017b82 */
                                                                       /* 0x000fe20000000800 */
        /*0070*/                   STG.E.64 desc[UR4][R2.64], R4 ;     /* 0x0000000402007986 */
"""


def test_resources_are_the_largest_over_a_templates_instances() -> None:
    assert resources(PTXAS) == {
        "scan": {
            "registers": 40,
            "shared_bytes": 1024,
            "stack_bytes": 16,
            "spill_bytes": 20,
            "occupancy": None,
        }
    }


def test_opcodes_keep_their_width_and_lose_predicates_and_padding() -> None:
    assert histogram(NVDISASM) == {
        "saxpy/LDC": 1, "saxpy/LDG.E.128": 1, "saxpy/LDG.E.128.CONSTANT": 1, "saxpy/EXIT": 1,
    }  # fmt: skip


def test_cuobjdumps_listing_reads_alike() -> None:
    assert histogram(CUOBJDUMP) == {"foo/LDC": 1, "foo/STG.E.64": 1}


@given(st.text())
def test_any_text_is_read_without_a_fault(text: str) -> None:
    assert isinstance(histogram(text), dict)
    assert isinstance(resources(text), dict)
