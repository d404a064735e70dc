/// What a request had in the fields that a response's `Vary` names
/// ([RFC 9111, 4.1](https://www.rfc-editor.org/rfc/rfc9111#section-4.1)).
///
/// A stored response is used for a request that has the same in all of them.
package struct VarySelection: Sendable, Hashable {
    /// One of the fields.
    package struct Member: Sendable, Hashable {
        /// The name, in lower case.
        package let name: HTTPField.Name
        /// The value with its lines joined, as it was sent; `nil` if the field was not sent.
        package let value: String?

        package init(name: HTTPField.Name, value: String?) { (self.name, self.value) = (name, value) }

        /// Values with one form are equal.
        package static func == (one: Member, other: Member) -> Bool {
            one.name == other.name && one.matches(other.value)
        }

        /// Equal values can have different texts.
        package func hash(into hasher: inout Hasher) { hasher.combine(name) }

        /// Whether a request with this value has the same. Most have the same text.
        func matches(_ other: String?) -> Bool {
            if VaryRules.areEqual(value, other) { return true }
            guard let value, let other else { return false }
            return VaryRules.areEqual(VaryRules.form(of: value, in: name), VaryRules.form(of: other, in: name))
        }
    }

    /// The selection of a response without `Vary`.
    package static let empty = VarySelection([])

    /// The fields in the order in which `Vary` names them.
    package let members: [Member]

    package init(_ members: [Member]) { self.members = members }

    /// Whether a request has the same in all fields.
    ///
    /// - Parameter value: The value with which the request is sent in a field.
    package func matches(_ value: (HTTPField.Name) -> String?) -> Bool {
        members.allSatisfy { $0.matches(value($0.name)) }
    }
}

/// Which fields select a response, and when their values are the same.
package enum VaryRules {
    /// How many names count. A response with more is not used for later requests.
    static let maximumCount = 64

    /// The names in `Vary`, in lower case and each once; `nil` if the response depends on more than fields of the request:
    /// `Vary: *`, or a member that is no name.
    package static func names(in fields: HTTPFields) -> [HTTPField.Name]? {
        var names: [HTTPField.Name] = []
        for field in fields where field.name == .vary {
            for text in FieldList.members(of: field.value.lowercased().utf8) {
                guard text != "*", names.count < maximumCount, let name = HTTPField.Name(text) else {
                    return nil
                }
                if !names.contains(name) { names.append(name) }
            }
        }
        return names
    }

    /// What a response was selected by; `nil` if no later request is certain to have the same.
    ///
    /// - Parameter value: The value with which the request was sent in a field.
    package static func selection(of fields: HTTPFields, _ value: (HTTPField.Name) -> String?) -> VarySelection? {
        guard let names = names(in: fields) else { return nil }
        if names.isEmpty { return .empty }
        let members = names.map { VarySelection.Member(name: $0, value: value($0)) }
        // Bytes that are no text are all the same after decoding.
        let isText = members.allSatisfy { $0.value?.unicodeScalars.contains("\u{fffd}") != true }
        return isText ? VarySelection(members) : nil
    }

    /// Whether values have the same bytes. Strings are equal too if they look the same.
    static func areEqual(_ one: String?, _ other: String?) -> Bool {
        switch (one, other) {
        case (nil, nil): true
        case (let one?, let other?): one.utf8.count == other.utf8.count && one.utf8.elementsEqual(other.utf8)
        default: false
        }
    }

    private static let negotiated: Set<HTTPField.Name> = [.accept, .acceptEncoding, .acceptLanguage, acceptCharset]
    private static let acceptCharset = HTTPField.Name("Accept-Charset") ?? .accept

    /// The form in which values are compared. The fields of content negotiation have neither blanks, case nor needless
    /// weights and digits, and their order is kept, because it can be a preference. Other values stay as they are.
    static func form(of value: String, in name: HTTPField.Name) -> String {
        // What stands in quotation marks may depend on case and blanks.
        guard negotiated.contains(name), value.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "\"") }) else {
            return value
        }
        let members = value.lowercased().utf8.split(separator: UInt8(ascii: ",")).map { member in
            var parts = member.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map {
                String(decoding: FieldList.trimmed(Array($0)[...]), as: UTF8.self)
            }
            for index in parts.indices.dropFirst() { parts[index] = weight(parts[index]) ?? parts[index] }
            if parts.count > 1, parts.last == "q=1" { parts.removeLast() }
            return parts.joined(separator: ";")
        }
        return members.filter { !$0.isEmpty }.joined(separator: ",")
    }

    /// A weight without needless digits (RFC 9110, 12.4.2); `nil` for other parameters, and for weights that are malformed.
    private static func weight(_ part: String) -> String? {
        guard part.hasPrefix("q=") else { return nil }
        var digits = part.utf8.dropFirst(2)
        guard let first = digits.popFirst(), first == UInt8(ascii: "0") || first == UInt8(ascii: "1") else {
            return nil
        }
        guard let dot = digits.popFirst() else { return part }
        guard dot == UInt8(ascii: "."), digits.count <= 3, digits.allSatisfy(\.isASCIIDigit) else { return nil }
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        let whole = first == UInt8(ascii: "0") ? "q=0" : "q=1"
        if digits.isEmpty { return whole }
        return first == UInt8(ascii: "0") ? "\(whole).\(Substring(digits))" : nil
    }
}
