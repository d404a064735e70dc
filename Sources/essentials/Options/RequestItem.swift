import ArgumentParser
import EssentialsHTTP
import ServiceEssentials

/// A part of a request that is written after its URL: `name==value` for the query, `Name:value` for a header field,
/// and `name=text` or `name:=json` for a member of a JSON body.
///
/// ```
/// essentials post api.example.com/users dry-run==yes X-Tenant:acme name=Ada age:=36 address:=@address.json
/// ```
///
/// The first separator in the text counts. If several begin at the same place, the longest counts. A backslash before
/// one of the characters `= : @ ; \` makes it a part of the name. The value is never changed.
enum RequestItem: Sendable, Equatable {
    /// The value of a member of a JSON body.
    enum Value: Sendable, Equatable {
        case text(String)
        /// The text of a file.
        case textFile(String)
        /// JSON, which is sent unchanged.
        case json(String)
        /// A file of JSON.
        case jsonFile(String)
    }

    case query(NamedText)
    case header(HeaderArgument)
    case member(String, Value)

    private static let backslash = UInt8(ascii: "\\")
    private static let special = "=:@;\\".utf8
    /// A separator comes before its own prefixes.
    private static let separators = [":=@", ":=", "=@", "==", "=", ":", "@"]

    init(_ text: String) throws {
        let lower = text.lowercased()
        guard !lower.hasPrefix("http://"), !lower.hasPrefix("https://") else {
            throw ValidationError("“\(OneLine.text(text))” is a second URL, but a command sends one request.")
        }
        let bytes = Array(text.utf8)
        var name: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let rest = bytes[index...]
            if bytes[index] == Self.backslash, index + 1 < bytes.count, Self.special.contains(bytes[index + 1]) {
                name.append(bytes[index + 1])
                index += 2
            } else if let separator = Self.separators.first(where: { rest.starts(with: $0.utf8) }) {
                let value = String(decoding: rest.dropFirst(separator.utf8.count), as: UTF8.self)
                self = try Self.item(String(decoding: name, as: UTF8.self), separator, value, in: text)
                return
            } else if bytes[index] == UInt8(ascii: ";"), index == bytes.count - 1 {
                self = .header(try HeaderArgument(String(decoding: name, as: UTF8.self) + ";"))
                return
            } else {
                name.append(bytes[index])
                index += 1
            }
        }
        throw ValidationError(
            "“\(OneLine.text(text))” is not a part of a request. Write name=text or name:=json for a JSON body, name==value "
                + "for the query, or Name:value for a header field.")
    }

    private static func item(
        _ name: String, _ separator: String, _ value: String, in text: String
    ) throws -> RequestItem {
        guard !name.isEmpty else {
            throw ValidationError("“\(OneLine.text(text))” has no name before “\(separator)”.")
        }
        switch separator {
        case "==": return .query(NamedText(name: name, value: value))
        case ":": return .header(try HeaderArgument(name + ":" + value))
        case "=": return .member(name, .text(value))
        case "=@": return .member(name, .textFile(try path(value, in: text)))
        case ":=@": return .member(name, .jsonFile(try path(value, in: text)))
        case ":=":
            guard JSONParser.isValid(value) else {
                throw ValidationError(
                    "“\(OneLine.text(text))” has no valid JSON after “:=”. Write name=text for a string.")
            }
            return .member(name, .json(value))
        default:
            throw ValidationError("“\(OneLine.text(text))” names a file. Send a file with --part name=@file.")
        }
    }

    private static func path(_ value: String, in text: String) throws -> String {
        guard !value.isEmpty else { throw ValidationError("“\(OneLine.text(text))” has no file name after the @.") }
        return value
    }
}

extension RequestItem.Value {
    /// The value as JSON. Files are read at this moment; `-` is standard input.
    ///
    /// - Throws: `file` if a file cannot be read, `invalidRequest` if it is not UTF-8 or not JSON.
    func jsonText() throws(RequestFailure) -> String {
        switch self {
        case .text(let text): JSONText.quoted(text)
        case .json(let text): text
        case .textFile(let path): JSONText.quoted(try InputFile.text(of: path))
        case .jsonFile(let path): try InputFile.json(of: path)
        }
    }
}
