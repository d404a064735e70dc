/// A JSON value with its line number, so that errors can be located (RFC 8259).
///
/// It is meant for small files that people write: names are unique, and there are at most 32 levels.
package struct LocatedJSON {
    static let maximumDepth = 32

    /// An error and its line.
    package struct Fault: Error {
        package let line: Int
        package let text: String
        /// The failure of validating the value itself.
        package var underlying: RequestFailure?

        /// The failure of a file or text, or of another file that it names.
        ///
        /// - Parameter name: The name of the file or text, which the message begins with.
        package func failure(_ reason: RequestFailure.Reason, in name: String) -> RequestFailure {
            if let file = underlying, file.reason == .file { return file }
            return RequestFailure(
                reason, "\(name), line \(line): \(text)", remedy: underlying?.remedy ?? "Correct the line.",
                underlying: underlying)
        }
    }

    package let value: JSONValue
    /// The line at which the value begins, counted from 1.
    package let line: Int
    /// The elements of an array, or the members of an object, in the order of the text.
    package let parts: [LocatedJSON]
    /// The name of a member; empty for other values.
    package let name: String
    /// The line of the name.
    let nameLine: Int

    /// Parses a text that contains one value.
    package init(_ text: String) throws(Fault) { self = try JSONParser.located(text) }

    init(value: JSONValue, line: Int, parts: [LocatedJSON], name: String, nameLine: Int) {
        self.value = value
        self.line = line
        self.parts = parts
        self.name = name
        self.nameLine = nameLine
    }

    /// The string; throws if the value is not a string.
    package func text() throws(Fault) -> String {
        guard let text = value.string else { throw wrong(expected: "a string") }
        return text
    }

    /// The members of an object in the order of the text; throws if the value is not an object.
    package func members() throws(Fault) -> [LocatedJSON] {
        guard value.object != nil else { throw wrong(expected: "an object") }
        return parts
    }

    /// The error that the value is not what was expected.
    package func wrong(expected: String) -> Fault {
        let found = value.string.map { "“\(RequestFailure.shown($0))”" } ?? kind
        return Fault(line: line, text: "Expected \(expected), not \(found).")
    }

    /// The kind of the value in JSON's terms.
    fileprivate var kind: String {
        switch value {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .integer, .unsigned, .number: "a number"
        case .boolean: "true or false"
        case .null: "null"
        }
    }

    /// What is made of the value; a failure becomes an error at its line.
    package func located<Value>(_ body: () throws(RequestFailure) -> Value) throws(Fault) -> Value {
        do throws(RequestFailure) {
            return try body()
        } catch {
            throw Fault(line: line, text: error.message, underlying: error)
        }
    }

    /// The path of a file that the string names, which is absolute or relative to a directory.
    package func path(in directory: String) throws(Fault) -> String {
        let path = try text()
        return path.utf8.first == UInt8(ascii: "/") ? path : directory + "/" + path
    }
}

/// The members of an object, whose names are checked.
package struct LocatedMembers {
    let members: [String: LocatedJSON]
    private let line: Int

    /// - Parameter names: The allowed names.
    package init(_ json: LocatedJSON, knows names: [String]) throws(LocatedJSON.Fault) {
        guard json.value.object != nil else {
            throw LocatedJSON.Fault(line: json.line, text: "Expected an object, not \(json.kind).")
        }
        line = json.line
        // An unknown name is likely misspelled, and could be a pin that nobody checks.
        if let unknown = json.parts.first(where: { !names.contains($0.name) }) {
            let known = names.map { "“\($0)”" }.joined(separator: ", ")
            throw LocatedJSON.Fault(
                line: unknown.nameLine,
                text: "“\(RequestFailure.shown(unknown.name))” is not a valid name here; valid names are \(known).")
        }
        members = Dictionary(json.parts.map { ($0.name, $0) }) { first, _ in first }
    }

    package func take<Value>(
        _ name: String, or standard: Value, _ read: (LocatedJSON) throws(LocatedJSON.Fault) -> Value
    ) throws(LocatedJSON.Fault) -> Value {
        guard let value = members[name] else { return standard }
        return try read(value)
    }

    package func need<Value>(
        _ name: String, _ read: (LocatedJSON) throws(LocatedJSON.Fault) -> Value
    ) throws(LocatedJSON.Fault) -> Value {
        guard let value = members[name] else {
            throw LocatedJSON.Fault(line: line, text: "The object that begins here has no “\(name)”.")
        }
        return try read(value)
    }
}
