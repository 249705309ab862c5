//! Vector instructions of x86-64 and 64-bit ARM: the only module of the project with `unsafe` code.
//!
//! What is unsafe here is of four kinds, each with its reason beside it: calling a function that was
//! compiled for instructions that the processor was seen to have, reading or writing a register
//! through a reference to an array of exactly its size, one instruction on registers that this
//! compiler has no name for, and asking for bytes of a slice to be brought near. No pointer is computed;
//! everything else is slices. All ways give the same bits: sums of whole numbers are exact, and the
//! arithmetic in `f32`
//! is the same source for all of them, without fused steps.

#[cfg(target_arch = "aarch64")]
use std::arch::aarch64::*;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
#[cfg(target_arch = "aarch64")]
use std::arch::{asm, is_aarch64_feature_detected};

use super::product::Product;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::product::groups;
#[cfg(target_arch = "aarch64")]
use super::product::{BLOCK, INPUTS, OFFSET};

/// Work whose source is compiled once for each kind of instructions.
pub(crate) trait Kernel {
    /// What the work gives.
    type Output;

    /// Does the work. Marked `#[inline(always)]` by all that implement it, or it would be compiled
    /// for the oldest processor only.
    fn run(self) -> Self::Output;
}

/// Instructions that this processor has. Only [`Isa::all`] makes those of the vector paths, after
/// asking the processor: that is what the unsafe calls below rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Isa(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
    #[cfg(target_arch = "x86_64")]
    Avx512Popcnt,
    #[cfg(target_arch = "aarch64")]
    Neon,
    #[cfg(target_arch = "aarch64")]
    NeonDot,
}

impl Isa {
    /// What every processor has.
    pub(crate) const PORTABLE: Self = Self(Kind::Portable);

    /// Returns what this processor has, the fastest last.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = vec![Self::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        {
            let has_avx2 = is_x86_feature_detected!("avx2");
            let has_vnni = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vnni");
            all.extend(has_avx2.then_some(Self(Kind::Avx2)));
            let has_popcnt = has_vnni && is_x86_feature_detected!("avx512vpopcntdq");
            all.extend(has_vnni.then_some(Self(Kind::Avx512Vnni)));
            all.extend(has_popcnt.then_some(Self(Kind::Avx512Popcnt)));
        }
        #[cfg(target_arch = "aarch64")]
        {
            let has_neon = is_aarch64_feature_detected!("neon");
            let has_dot = has_neon && is_aarch64_feature_detected!("dotprod");
            all.extend(has_neon.then_some(Self(Kind::Neon)));
            all.extend(has_dot.then_some(Self(Kind::NeonDot)));
        }
        all
    }

    /// Returns the fastest.
    pub(crate) fn best() -> Self {
        Self::all().last().copied().unwrap_or(Self::PORTABLE)
    }

    /// Returns the name of the instructions.
    pub(crate) fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512Vnni => "AVX-512 VNNI",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512Popcnt => "AVX-512 VNNI and VPOPCNTDQ",
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => "NEON",
            #[cfg(target_arch = "aarch64")]
            Kind::NeonDot => "NEON with dot products",
        }
    }

    /// Does work with these instructions.
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            Kind::Portable => kernel.run(),
            // SAFETY: `Kind::Avx2` is only made after the processor said that it has `avx2`.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { with_avx2(kernel) },
            // SAFETY: `Kind::Avx512Vnni` is only made after the processor named every feature.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512Vnni => unsafe { with_avx512(kernel) },
            // SAFETY: `Kind::Avx512Popcnt` is only made after the processor named every feature.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512Popcnt => unsafe { with_avx512_popcnt(kernel) },
            // NEON is in every processor of this kind: compilers use it without being told.
            #[cfg(target_arch = "aarch64")]
            Kind::Neon | Kind::NeonDot => kernel.run(),
        }
    }

    /// Multiplies with these instructions.
    pub(super) fn multiply(self, product: Product<'_>) {
        match self.0 {
            Kind::Portable => product.run(),
            // SAFETY: as in `run`.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { multiply_avx2(product) },
            // SAFETY: as in `run`.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512Vnni | Kind::Avx512Popcnt => unsafe { multiply_vnni(product) },
            // SAFETY: `Kind::Neon` is only made after the processor said that it has `neon`.
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => unsafe { multiply_neon(product) },
            // SAFETY: `Kind::NeonDot` is only made after the processor named both features.
            #[cfg(target_arch = "aarch64")]
            Kind::NeonDot => unsafe { multiply_dot(product) },
        }
    }
}

/// Asks the processor to bring these bytes near, for whoever reads them soon. Changes nothing.
#[inline(always)]
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(unused_variables, reason = "there is no such instruction everywhere")
)]
pub(crate) fn fetch_ahead(bytes: &[i8]) {
    // Lines of 64 bytes.
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(64) {
        // SAFETY: the instruction is part of every x86-64 processor, reads nothing that a program could
        // notice and never fails; the pointer is that of a slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr()) }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn with_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
fn with_avx512_popcnt<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

/// Rows that are multiplied together with 32 outputs: sixteen sums in registers.
#[cfg(target_arch = "x86_64")]
const VNNI_ROWS: usize = 8;

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn multiply_vnni(mut product: Product<'_>) {
    for pair in 0..product.weights.n_blocks() / 2 {
        for (row, n_rows) in groups(product.n_rows(), VNNI_ROWS) {
            match n_rows {
                1 => vnni_tile::<1>(&mut product, pair, row),
                2 => vnni_tile::<2>(&mut product, pair, row),
                3 => vnni_tile::<3>(&mut product, pair, row),
                4 => vnni_tile::<4>(&mut product, pair, row),
                5 => vnni_tile::<5>(&mut product, pair, row),
                6 => vnni_tile::<6>(&mut product, pair, row),
                7 => vnni_tile::<7>(&mut product, pair, row),
                _ => vnni_tile::<VNNI_ROWS>(&mut product, pair, row),
            }
        }
    }
}

/// Multiplies `ROWS` rows with two blocks of weights, four products and a sum an instruction.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn vnni_tile<const ROWS: usize>(product: &mut Product<'_>, pair: usize, row: usize) {
    let left = product.weights.block(2 * pair);
    let right = product.weights.block(2 * pair + 1);
    // Of one length, so that the loop needs no checks of bounds.
    let right = &right[..left.len()];
    let inputs: [&[[u8; 4]]; ROWS] =
        std::array::from_fn(|nth| &product.row(row + nth)[..left.len()]);
    let mut sums_left = [_mm512_setzero_si512(); ROWS];
    let mut sums_right = [_mm512_setzero_si512(); ROWS];
    for at in 0..left.len() {
        let (weights_left, weights_right) = (load_512(&left[at]), load_512(&right[at]));
        for nth in 0..ROWS {
            let input = _mm512_set1_epi32(i32::from_le_bytes(inputs[nth][at]));
            sums_left[nth] = _mm512_dpbusd_epi32(sums_left[nth], input, weights_left);
            sums_right[nth] = _mm512_dpbusd_epi32(sums_right[nth], input, weights_right);
        }
    }
    for nth in 0..ROWS {
        product.finish(row + nth, 2 * pair, store_512(sums_left[nth]));
        product.finish(row + nth, 2 * pair + 1, store_512(sums_right[nth]));
    }
}

/// Rows that are multiplied together with 16 outputs: twelve sums in registers.
#[cfg(target_arch = "x86_64")]
const AVX2_ROWS: usize = 3;

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn multiply_avx2(mut product: Product<'_>) {
    let wide = product.widened();
    for block in 0..product.weights.n_blocks() {
        for (row, n_rows) in groups(product.n_rows(), AVX2_ROWS) {
            match n_rows {
                1 => avx2_tile::<1>(&mut product, &wide, block, row),
                2 => avx2_tile::<2>(&mut product, &wide, block, row),
                _ => avx2_tile::<AVX2_ROWS>(&mut product, &wide, block, row),
            }
        }
    }
}

/// Multiplies `ROWS` rows with a block of weights in sixteen bits: in eight, the sum of two products
/// would not always fit.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn avx2_tile<const ROWS: usize>(
    product: &mut Product<'_>,
    wide: &[[i16; 4]],
    block: usize,
    row: usize,
) {
    let weights = product.weights.block(block);
    let inputs: [&[[i16; 4]]; ROWS] =
        std::array::from_fn(|nth| &wide[(row + nth) * weights.len()..][..weights.len()]);
    // Of each four outputs, the sums of even and odd pairs of products.
    let mut sums = [[_mm256_setzero_si256(); 4]; ROWS];
    for (at, weights) in weights.iter().enumerate() {
        let inputs: [__m256i; ROWS] =
            std::array::from_fn(|nth| _mm256_set1_epi64x(bytemuck::cast(inputs[nth][at])));
        for (quarter, weights) in weights.as_chunks().0.iter().enumerate() {
            let weights = _mm256_cvtepi8_epi16(load_128(weights));
            for nth in 0..ROWS {
                let products = _mm256_madd_epi16(weights, inputs[nth]);
                sums[nth][quarter] = _mm256_add_epi32(sums[nth][quarter], products);
            }
        }
    }
    for (nth, sums) in sums.iter().enumerate() {
        let mut whole = [0; 16];
        for (quarter, sums) in sums.iter().enumerate() {
            let pairs = store_256(*sums);
            for output in 0..4 {
                whole[4 * quarter + output] = pairs[2 * output] + pairs[2 * output + 1];
            }
        }
        product.finish(row + nth, block, whole);
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn load_512(from: &[i8; 64]) -> __m512i {
    // SAFETY: the array is the 64 bytes that are read; the instruction asks for no alignment.
    unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn store_512(register: __m512i) -> [i32; 16] {
    let mut to = [0; 16];
    // SAFETY: the array is the 64 bytes that are written; the instruction asks for no alignment.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), register) };
    to
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn load_128(from: &[i8; 16]) -> __m128i {
    // SAFETY: the array is the 16 bytes that are read; the instruction asks for no alignment.
    unsafe { _mm_loadu_si128(from.as_ptr().cast()) }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn store_256(register: __m256i) -> [i32; 8] {
    let mut to = [0; 8];
    // SAFETY: the array is the 32 bytes that are written; the instruction asks for no alignment.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), register) };
    to
}

/// Returns the inputs with their signs: the instructions of this processor ask for no offset.
#[cfg(target_arch = "aarch64")]
fn signed(product: &Product<'_>) -> Vec<[i8; INPUTS]> {
    let signed = |byte: u8| byte.wrapping_sub(OFFSET as u8).cast_signed();
    product.inputs.iter().map(|four| four.map(signed)).collect()
}

/// Rows that are multiplied together with 16 outputs: sixteen sums in registers.
#[cfg(target_arch = "aarch64")]
const DOT_ROWS: usize = 4;

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon,dotprod")]
fn multiply_dot(mut product: Product<'_>) {
    let signed = signed(&product);
    for block in 0..product.weights.n_blocks() {
        for (row, n_rows) in groups(product.n_rows(), DOT_ROWS) {
            match n_rows {
                1 => dot_tile::<1>(&mut product, &signed, block, row),
                2 => dot_tile::<2>(&mut product, &signed, block, row),
                3 => dot_tile::<3>(&mut product, &signed, block, row),
                _ => dot_tile::<DOT_ROWS>(&mut product, &signed, block, row),
            }
        }
    }
}

/// Multiplies `ROWS` rows with a block of weights, four products and a sum an instruction.
#[cfg(target_arch = "aarch64")]
#[inline]
#[target_feature(enable = "neon,dotprod")]
fn dot_tile<const ROWS: usize>(
    product: &mut Product<'_>,
    signed: &[[i8; INPUTS]],
    block: usize,
    row: usize,
) {
    let weights = product.weights.block(block);
    let inputs: [&[[i8; INPUTS]]; ROWS] =
        std::array::from_fn(|nth| &signed[(row + nth) * weights.len()..][..weights.len()]);
    let mut sums = [[vdupq_n_s32(0); 4]; ROWS];
    for (at, weights) in weights.iter().enumerate() {
        let (quarters, _) = weights.as_chunks();
        let weights: [int8x16_t; 4] = std::array::from_fn(|quarter| load_neon(&quarters[quarter]));
        for nth in 0..ROWS {
            let input = four_times(inputs[nth][at]);
            for quarter in 0..4 {
                sums[nth][quarter] = dot(sums[nth][quarter], weights[quarter], input);
            }
        }
    }
    for (nth, sums) in sums.into_iter().enumerate() {
        product.finish_without_offset(row + nth, block, store_neon(sums));
    }
}

/// Rows that are multiplied together with 16 outputs: sixteen sums in registers.
#[cfg(target_arch = "aarch64")]
const NEON_ROWS: usize = 2;

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
fn multiply_neon(mut product: Product<'_>) {
    let signed = signed(&product);
    for block in 0..product.weights.n_blocks() {
        for (row, n_rows) in groups(product.n_rows(), NEON_ROWS) {
            match n_rows {
                1 => neon_tile::<1>(&mut product, &signed, block, row),
                _ => neon_tile::<NEON_ROWS>(&mut product, &signed, block, row),
            }
        }
    }
}

/// Multiplies `ROWS` rows with a block of weights. A product fits sixteen bits whatever its factors
/// are, the sum of two would not: they are added in 32.
#[cfg(target_arch = "aarch64")]
#[inline]
#[target_feature(enable = "neon")]
fn neon_tile<const ROWS: usize>(
    product: &mut Product<'_>,
    signed: &[[i8; INPUTS]],
    block: usize,
    row: usize,
) {
    let weights = product.weights.block(block);
    let inputs: [&[[i8; INPUTS]]; ROWS] =
        std::array::from_fn(|nth| &signed[(row + nth) * weights.len()..][..weights.len()]);
    // Of each two outputs, the sums of even and odd pairs of products.
    let mut sums = [[[vdupq_n_s32(0); 2]; 4]; ROWS];
    for (at, weights) in weights.iter().enumerate() {
        let inputs: [int8x16_t; ROWS] = std::array::from_fn(|nth| four_times(inputs[nth][at]));
        for (quarter, weights) in weights.as_chunks().0.iter().enumerate() {
            let weights = load_neon(weights);
            for nth in 0..ROWS {
                let [low, high] = &mut sums[nth][quarter];
                let products = vmull_s8(vget_low_s8(weights), vget_low_s8(inputs[nth]));
                *low = vpadalq_s16(*low, products);
                *high = vpadalq_s16(*high, vmull_high_s8(weights, inputs[nth]));
            }
        }
    }
    for (nth, sums) in sums.into_iter().enumerate() {
        let sums = sums.map(|[low, high]| vpaddq_s32(low, high));
        product.finish_without_offset(row + nth, block, store_neon(sums));
    }
}

/// Adds to each of four sums the four products of its bytes.
#[cfg(target_arch = "aarch64")]
#[inline]
#[target_feature(enable = "neon,dotprod")]
fn dot(mut sums: int32x4_t, a: int8x16_t, b: int8x16_t) -> int32x4_t {
    // SAFETY: the instruction is one of `dotprod`, and reads and writes these three registers only.
    unsafe {
        asm!(
            "sdot {0:v}.4s, {1:v}.16b, {2:v}.16b",
            inout(vreg) sums, in(vreg) a, in(vreg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sums
}

#[cfg(target_arch = "aarch64")]
#[inline]
#[target_feature(enable = "neon")]
fn four_times(bytes: [i8; INPUTS]) -> int8x16_t {
    vreinterpretq_s8_s32(vdupq_n_s32(bytemuck::cast(bytes)))
}

#[cfg(target_arch = "aarch64")]
#[inline]
#[target_feature(enable = "neon")]
fn load_neon(from: &[i8; 16]) -> int8x16_t {
    // SAFETY: the array is the 16 bytes that are read; the instruction asks for no alignment.
    unsafe { vld1q_s8(from.as_ptr()) }
}

#[cfg(target_arch = "aarch64")]
#[inline]
#[target_feature(enable = "neon")]
fn store_neon(registers: [int32x4_t; 4]) -> [i32; BLOCK] {
    let mut to = [[0; 4]; 4];
    for (to, register) in to.iter_mut().zip(registers) {
        // SAFETY: the array is the 16 bytes that are written; the instruction asks for no alignment.
        unsafe { vst1q_s32(to.as_mut_ptr(), register) };
    }
    bytemuck::cast(to)
}
