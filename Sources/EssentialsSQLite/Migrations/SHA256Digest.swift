#if Persistence
    import EssentialsPersistence

    /// The SHA-256 hash of a text (FIPS 180-4, section 6.2). It tells edited migrations from unchanged ones.
    enum SHA256Digest {
        private static let constants: [UInt32] = primes(64).map { fraction(of: $0, root: 3) }
        private static let start: [UInt32] = primes(8).map { fraction(of: $0, root: 2) }

        /// The hash in hexadecimal digits.
        static func text(_ text: String) -> String {
            var bytes = Array(text.utf8)
            let bits = UInt64(bytes.count) &* 8
            bytes.append(0x80)
            while bytes.count % 64 != 56 { bytes.append(0) }
            for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: bits >> shift)) }
            var state = start
            for block in stride(from: 0, to: bytes.count, by: 64) { compress(bytes[block..<block + 64], &state) }
            return HexText.text(
                state.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } })
        }

        private static func compress(_ block: ArraySlice<UInt8>, _ state: inout [UInt32]) {
            var words: [UInt32] = []
            for index in stride(from: block.startIndex, to: block.endIndex, by: 4) {
                words.append(block[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) })
            }
            for index in 16..<64 {
                let (early, late) = (words[index - 15], words[index - 2])
                let one = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
                let two = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
                words.append(words[index - 16] &+ one &+ words[index - 7] &+ two)
            }
            var work = state
            for index in 0..<64 {
                let (a, e) = (work[0], work[4])
                let one = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
                let choice = e & work[5] ^ ~e & work[6]
                let first = work[7] &+ one &+ choice &+ constants[index] &+ words[index]
                let two = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
                let majority = a & work[1] ^ a & work[2] ^ work[1] & work[2]
                work = [first &+ two &+ majority] + work.dropLast()
                work[4] = work[4] &+ first
            }
            for index in 0..<8 { state[index] = state[index] &+ work[index] }
        }

        private static func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }

        private static func primes(_ count: Int) -> [UInt64] {
            var primes: [UInt64] = []
            var number: UInt64 = 2
            while primes.count < count {
                if primes.allSatisfy({ number % $0 != 0 }) { primes.append(number) }
                number += 1
            }
            return primes
        }

        /// The first 32 bits of the fraction of a square or cube root, found bit by bit without floating point.
        private static func fraction(of number: UInt64, root: Int) -> UInt32 {
            var low: UInt64 = 0
            var high: UInt64 = 1 << 37
            // The greatest r with r^root <= number * 2^(32 * root).
            while high - low > 1 {
                let middle = low + (high - low) / 2
                if isPower(middle, root, atMost: number) { low = middle } else { high = middle }
            }
            return UInt32(truncatingIfNeeded: low)
        }

        private static func isPower(_ base: UInt64, _ root: Int, atMost number: UInt64) -> Bool {
            let wide = UInt128(base)
            if root == 2 { return wide * wide <= UInt128(number) << 64 }
            return wide * wide * wide <= UInt128(number) << 96
        }
    }
#endif
