/// Pseudo-random numbers that are the same in every run (SplitMix64).
package struct SeededNumbers: RandomNumberGenerator {
    package var state: UInt64

    package init(state: UInt64) { self.state = state }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A text of at most `maximum` random pieces.
    package mutating func text(of pieces: [String], upTo maximum: Int) -> String {
        (0..<Int.random(in: 0...maximum, using: &self)).map { _ in
            pieces.randomElement(using: &self) ?? ""
        }.joined()
    }
}

/// How much of a pure machine is compared with a slow model: 10,000 random sequences of 200 steps, in 20 cases that run
/// beside each other. A disagreement names its seed and sequence.
package enum RandomSequences {
    package static let seeds: Range<UInt64> = 0..<20
    package static let count = 500
    package static let steps = 200
}
