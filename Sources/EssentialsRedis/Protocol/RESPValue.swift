/// A value of the Redis protocol (RESP3, and RESP2, which is a part of it).
package enum RESPValue: Sendable, Equatable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    /// The decimal digits of a number of any size.
    case bigNumber(String)
    /// A status such as `OK`, which has no line breaks.
    case status(String)
    /// Bytes; also a text whose format the server has named.
    case bytes([UInt8])
    case error(RESPError)
    /// An array or a set.
    case array([RESPValue])
    /// Keys and values in turn, in the order of the server.
    case map([RESPValue])
}

/// An error that the server has sent instead of a value.
package struct RESPError: Error, Sendable, Equatable {
    /// The whole text, which begins with the code.
    package let text: String

    package init(_ text: String) { self.text = text }

    /// The beginning of the text, for messages: without what a server repeats of a command, such as a password.
    package var shown: String {
        let line = text.prefix { !$0.isNewline }
        let end = line.firstRange(of: ", with args")?.lowerBound ?? line.endIndex
        return String(
            line[..<end].prefix(200).filter {
                !$0.unicodeScalars.contains { $0.properties.generalCategory == .control }
            })
    }

    /// The first word, such as `ERR`, `NOSCRIPT` or `MOVED`.
    package var code: String { String(decoding: text.utf8.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self) }
}

/// What a server has sent: the reply to the oldest command without one, or a message of its own.
package enum RESPMessage: Sendable, Equatable {
    case reply(RESPValue)
    /// A message that no command has asked for. The first value is its kind, such as `invalidate`.
    case push([RESPValue])
}
