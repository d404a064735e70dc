/// Numbers that change with each removal, as values of the server: eight bytes.
enum RedisNumber {
    /// A number that no other is equal to.
    static func random() -> [UInt8] { bytes(.random(in: .min ... .max)) }

    static func bytes(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }

    /// - Returns: `nil` if the value is damaged.
    static func number(_ bytes: [UInt8]) -> UInt64? {
        bytes.count == 8 ? bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) } : nil
    }
}
