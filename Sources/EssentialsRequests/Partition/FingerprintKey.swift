/// The secret of a store, with which it hashes the header fields of environments for its keys.
///
/// Header fields can be secrets, such as an API key, so a store never writes them. It writes a keyed hash
/// ([SipHash-2-4](https://www.aumasson.jp/siphash/siphash.pdf) with 128 bits), from which nobody without the key can tell
/// the fields, and which differs between stores.
///
/// ```swift
/// let fingerprintKey: FingerprintKey          // in an entity cache, read from the place that holds the entities
/// ```
///
/// A store that outlives the process keeps its key with what it stores; with another key its entries are not found.
public struct FingerprintKey: Sendable, Hashable {
    /// The number of bytes of a key.
    public static let size = 16

    /// The key of stores that do not outlive the process. It is random.
    public static let process = FingerprintKey.random()
    /// The key of stores that outlive the process and have none of their own. Its hashes say no more than that two stores
    /// have seen equal fields, to those who can guess these.
    public static let common = FingerprintKey(low: 0x6574_6e65_6d6e_6f72, high: 0x7669_6e65_2d65_7373)

    private let low: UInt64
    private let high: UInt64

    private init(low: UInt64, high: UInt64) { (self.low, self.high) = (low, high) }

    /// A new key from the system's random numbers.
    public static func random() -> FingerprintKey {
        var generator = SystemRandomNumberGenerator()
        return FingerprintKey(low: generator.next(), high: generator.next())
    }

    /// A key from its bytes; `nil` unless there are ``size`` of them.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        func number(_ bytes: some Collection<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(low: number(bytes.prefix(8)), high: number(bytes.dropFirst(8)))
    }

    /// The bytes of the key, for the store that keeps it.
    public var bytes: [UInt8] {
        withUnsafeBytes(of: low.littleEndian) { Array($0) } + withUnsafeBytes(of: high.littleEndian) { Array($0) }
    }

    /// The hash of a message.
    package func hash(of message: [UInt8]) -> UInt128 {
        var state = SipState(low, high)
        var index = 0
        while index + 8 <= message.count {
            state.absorb(Self.word(message[index..<(index + 8)]))
            index += 8
        }
        state.absorb(UInt64(truncatingIfNeeded: message.count) << 56 | Self.word(message[index...]))
        return state.finished()
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension FingerprintKey: CustomStringConvertible, CustomReflectable {
    /// A text without the key.
    public var description: String { "FingerprintKey" }
    /// Empty, so that the key is not shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The state of SipHash-2-4 with a result of 128 bits, in the words of its paper.
private struct SipState {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64

    init(_ k0: UInt64, _ k1: UInt64) {
        v0 = k0 ^ 0x736f_6d65_7073_6575
        v1 = k1 ^ 0x646f_7261_6e64_6f6d ^ 0xee
        v2 = k0 ^ 0x6c79_6765_6e65_7261
        v3 = k1 ^ 0x7465_6462_7974_6573
    }

    mutating func absorb(_ word: UInt64) {
        v3 ^= word
        rounds(2)
        v0 ^= word
    }

    mutating func finished() -> UInt128 {
        v2 ^= 0xee
        rounds(4)
        let low = v0 ^ v1 ^ v2 ^ v3
        v1 ^= 0xdd
        rounds(4)
        return UInt128(v0 ^ v1 ^ v2 ^ v3) << 64 | UInt128(low)
    }

    private mutating func rounds(_ count: Int) {
        for _ in 0..<count {
            v0 &+= v1
            v1 = Self.rotated(v1, 13) ^ v0
            v0 = Self.rotated(v0, 32)
            v2 &+= v3
            v3 = Self.rotated(v3, 16) ^ v2
            v0 &+= v3
            v3 = Self.rotated(v3, 21) ^ v0
            v2 &+= v1
            v1 = Self.rotated(v1, 17) ^ v2
            v2 = Self.rotated(v2, 32)
        }
    }

    private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 { word << count | word >> (64 - count) }
}
