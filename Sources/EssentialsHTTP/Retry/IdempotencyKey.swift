/// The key by which a server recognizes a request that it has already processed, sent in the field `Idempotency-Key`.
///
/// All attempts of a request have the same key, so a request with a key is retried whatever its method.
///
/// ```swift
/// request.idempotencyKey = .automatic
/// request.idempotencyKey = .text(order.id)
/// ```
///
/// Only use it for servers that support it. A server that ignores the field can process the request twice.
public enum IdempotencyKey: Sendable, Hashable {
    /// A new random UUID for each request.
    case automatic
    /// This text, sent unchanged. The server must not have received it with another request.
    case text(String)

    /// The value of the field.
    ///
    /// - Parameter random: Returns 64 random bits.
    private func value(random: () -> UInt64) -> String {
        switch self {
        case .text(let text): text
        case .automatic: Self.uuid(random(), random())
        }
    }

    /// The field with the key.
    ///
    /// - Throws: `invalidRequest` if the text is empty, or not allowed in a field.
    package func field(
        _ name: HTTPField.Name, random: () -> UInt64
    ) throws(RequestFailure) -> HTTPField {
        let value = value(random: random)
        guard !value.isEmpty else {
            throw RequestFailure(
                .invalidRequest, "The idempotency key is empty.", remedy: "Use a text, or “automatic”.")
        }
        return try HTTPField.checked(name, value: value)
    }

    /// A UUID of version 4 (RFC 9562, 5.4).
    private static func uuid(_ high: UInt64, _ low: UInt64) -> String {
        let high = high & 0xffff_ffff_ffff_0fff | 0x4000
        let low = low & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for position in 0..<32 {
            switch position {
            case 8, 12, 16, 20: text.append(UInt8(ascii: "-"))
            default: break
            }
            let word = position < 16 ? high : low
            let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (position & 15))) & 15
            text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension HTTPField.Name {
    /// The field of an ``IdempotencyKey``.
    package static let idempotencyKey = HTTPField.Name("Idempotency-Key")
}
