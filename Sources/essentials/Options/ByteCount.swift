import ArgumentParser

/// A number of bytes such as `4096`, `64k`, `10M`, `1G`; the suffixes are powers of 1024.
struct ByteCount: Sendable, Equatable {
    let bytes: Int

    init(_ text: String) throws {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let shift: Int? =
            switch text.dropFirst(digits.count) {
            case "": 0
            case "k", "K": 10
            case "m", "M": 20
            case "g", "G": 30
            default: nil
            }
        guard let shift, let value = Int(digits), value <= Int.max >> shift else {
            throw ValidationError("Write a number of bytes as 4096, 64k, 10M or 1G.")
        }
        bytes = value << shift
    }
}
