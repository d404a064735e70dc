import EssentialsHTTP
import FoundationEssentials

extension Redaction {
    /// The fields whose values are URLs, or contain some.
    private static let urlFields = Set(
        [HTTPField.Name.location, .contentLocation, .referer] + ["Link", "Refresh"].compactMap { HTTPField.Name($0) })

    /// The fields with `…` as the value of a secret, and in place of the query of a URL.
    func shown(_ fields: HTTPFields) -> HTTPFields {
        let isShown = { (field: HTTPField) in
            !hides(field.name) && !Self.urlFields.contains(field.name) && !Self.mayHoldURL(field)
        }
        return fields.allSatisfy(isShown) ? fields : HTTPFields(fields.map(shown))
    }

    private func shown(_ field: HTTPField) -> HTTPField {
        if hides(field.name) { return HTTPField(name: field.name, value: "…") }
        let isURL = Self.urlFields.contains(field.name)
        guard isURL || Self.mayHoldURL(field) else { return field }
        let text = shown(text: field.value)
        guard isURL, case .hiddenWhole = query, let rest = text.firstIndex(where: { "?#".contains($0) }) else {
            return HTTPField(name: field.name, value: text)
        }
        // The query and the fragment are hidden whole, with all that follows.
        return HTTPField(name: field.name, value: text[...rest] + "…")
    }

    /// Whether a value may contain a URL, in a field that usually has none.
    private static func mayHoldURL(_ field: HTTPField) -> Bool {
        var last: UInt8 = 0
        for byte in field.value.utf8 {
            if byte == UInt8(ascii: "=") || (byte == UInt8(ascii: "/") && last == byte) { return true }
            last = byte
        }
        return false
    }

    /// A failure without the body and the secret fields of its response.
    func shown(_ failure: RequestFailure) -> RequestFailure {
        let inner = failure.underlying as? RequestFailure
        guard failure.response != nil || !failure.earlierFailures.isEmpty || inner != nil else { return failure }
        return failure.changed { content in
            content.response = content.response.map { response in
                var head = response.head
                head.headerFields = shown(head.headerFields)
                return FailedResponse(head: head, body: Data())
            }
            content.earlier = content.earlier.map(shown)
            if let inner { content.underlying = shown(inner) }
        }
    }
}
