/// A command as it is sent: an array of strings.
struct RedisCommand: Sendable {
    /// One string of a command.
    enum Argument: Sendable, ExpressibleByStringLiteral {
        case text(String)
        case bytes([UInt8])
        case number(Int)

        init(stringLiteral text: String) { self = .text(text) }
    }

    /// The bytes of the command.
    let bytes: [UInt8]

    init(_ arguments: Argument...) { self.init(arguments) }

    init(_ arguments: [Argument]) {
        var bytes: [UInt8] = []
        Self.append(arguments.count, as: UInt8(ascii: "*"), to: &bytes)
        for argument in arguments {
            switch argument {
            case .text(let text): Self.append(text.utf8, to: &bytes)
            case .bytes(let text): Self.append(text, to: &bytes)
            case .number(let number): Self.append(String(number).utf8, to: &bytes)
            }
        }
        self.bytes = bytes
    }

    private static func append(_ text: some Collection<UInt8>, to bytes: inout [UInt8]) {
        append(text.count, as: UInt8(ascii: "$"), to: &bytes)
        bytes += text
        bytes += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
    }

    private static func append(_ count: Int, as type: UInt8, to bytes: inout [UInt8]) {
        bytes.append(type)
        bytes += String(count).utf8
        bytes += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
    }
}

/// Why a command has no reply.
enum RedisFailure: Error, Sendable, CustomStringConvertible {
    /// There is no connection now.
    case unavailable
    /// The server has not replied to an earlier command in time.
    case late
    /// Too many commands wait for their replies.
    case full
    /// The connection has ended. Whether the command was executed is not known.
    case lost(String)
    /// The server has replied with an error.
    case refused(RESPError)
    /// The client was closed.
    case closed

    var description: String {
        switch self {
        case .unavailable: "There is no connection."
        case .late: "The server does not reply in time."
        case .full: "Too many commands wait for their replies."
        case .lost(let reason): "The connection has ended: \(reason)"
        case .refused(let error): "The server has refused a command: \(error.shown)"
        case .closed: "The client is closed."
        }
    }
}
