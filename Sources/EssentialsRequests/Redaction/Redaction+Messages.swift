import EssentialsHTTP
import FoundationEssentials

extension Redaction {
    /// The fields whose values are URLs, or contain some.
    private static let urlFields = Set(
        [HTTPField.Name.location, .contentLocation, .referer] + ["Link", "Refresh"].compactMap { HTTPField.Name($0) })

    /// The fields with `…` as the value of a secret, and in place of the query of a URL.
    func shown(_ fields: HTTPFields) -> HTTPFields {
        let isShown = { (field: HTTPField) in !hides(field.name) && !Self.urlFields.contains(field.name) }
        return fields.allSatisfy(isShown) ? fields : HTTPFields(fields.map(shown))
    }

    private func shown(_ field: HTTPField) -> HTTPField {
        if hides(field.name) { return HTTPField(name: field.name, value: "…") }
        guard Self.urlFields.contains(field.name) else { return field }
        if let url = try? RequestURL(field.value) { return HTTPField(name: field.name, value: text(of: url)) }
        // A reference to a URL, several of them, or nothing of the kind.
        guard let query = field.value.firstIndex(where: { "?@".contains($0) }) else { return field }
        return HTTPField(name: field.name, value: field.value[..<query] + "…")
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
