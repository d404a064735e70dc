/// The members of an object, whose names are checked.
package struct LocatedMembers {
    package private(set) var members: [String: LocatedJSON] = [:]
    private let line: Int

    /// - Parameter names: The allowed names; `nil` allows any.
    package init(_ json: LocatedJSON, knows names: [String]?) throws(LocatedJSON.Fault) {
        guard case .object(let list) = json.value else {
            throw LocatedJSON.Fault(line: json.line, text: "Expected an object, not \(json.kind).")
        }
        line = json.line
        for member in list {
            // An unknown name is likely misspelled, and could be a pin that nobody checks.
            if let names, !names.contains(member.name) {
                let known = names.map { "“\($0)”" }.joined(separator: ", ")
                throw LocatedJSON.Fault(
                    line: member.line,
                    text: "“\(RequestFailure.shown(member.name))” is not a valid name here; valid names are \(known).")
            }
            members[member.name] = member.value
        }
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
