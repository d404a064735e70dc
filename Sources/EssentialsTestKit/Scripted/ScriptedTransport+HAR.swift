public import EssentialsHTTP
import FoundationEssentials

extension ScriptedTransport {
    /// Adds rules that give the responses of a record, such as of a browser or of a `HARRecorder`.
    ///
    /// ```swift
    /// transport.replay(try HAR(contentsOf: "Fixtures/checkout.har"))
    /// ```
    ///
    /// A request gets a response if its method, host without a port, path and query are those of a recorded one; of a query
    /// that was hidden, what was not. Equal requests get their responses in the order of the record, and the last one again after that. A failure
    /// without a response fails with the same reason. What was not sent, such as a response from a cache, is left out, and so
    /// are cancelled requests and responses that a cached body has not changed (304).
    ///
    /// The bodies are those of the record: a body that was not recorded is empty, and one that was cut off ends there. Fields
    /// for their compression and length are left out, and so are those whose values were hidden.
    ///
    /// - Parameters:
    ///   - har: The record.
    ///   - anyHost: Whether the hosts do not matter. The default is `false`.
    ///   - fileID: The source file, for messages.
    ///   - line: The source line, for messages.
    public func replay(_ har: HAR, anyHost: Bool = false, fileID: String = #fileID, line: Int = #line) {
        var rules: [String: ScriptedRule] = [:]
        // The newest rule that matches answers, so those that match more come first.
        let entries = har.entries.filter(\.isReplayed).enumerated()
        let sorted = entries.sorted { ($0.element.shownItems, $0.offset) < ($1.element.shownItems, $1.offset) }
        for entry in sorted.map(\.element) {
            let method = HTTPRequest.Method(entry.request.method)
            guard let method, let url = try? RequestURL(entry.request.url) else { continue }
            let host = anyHost ? nil : url.origin.host.text
            let key = "\(method.rawValue) \(host ?? "") \(url.path)?\(url.query ?? "")"
            if let rule = rules[key] {
                rule.thenAnswer(entry.answer)
            } else {
                let query = url.query.map { entry.pattern(ofQuery: $0) } ?? [:]
                rules[key] = on(
                    method, String(url.path).replacing("*", with: "%2A"), query: query, host: host, fileID: fileID,
                    line: line
                )
                .answer(entry.answer)
            }
        }
    }
}

extension HAR.Entry {
    /// The fields that describe the bytes on the network.
    private static let networkFields: Set<String> = [
        "content-encoding", "content-length", "transfer-encoding", "connection",
    ]

    /// Whether the exchange was sent and has an end. A response 304 is left out, because the sender of a replayed request may have
    /// no stored body.
    fileprivate var isReplayed: Bool {
        let isSent = source == nil && (call == nil || attempt != nil) && !isRunning
        return isSent && response.status != 304 && failure?.reason != "cancelled"
    }

    /// The number of items of the query that are shown, if some are hidden; otherwise more than that can be.
    fileprivate var shownItems: Int {
        let items = request.query
        let isHidden = request.url.hasSuffix("?…") || items.contains { $0.value == "…" }
        return isHidden ? items.count { $0.value != "…" } : .max
    }

    /// The query without what was hidden.
    fileprivate func pattern(ofQuery query: Substring) -> QueryPattern {
        let items = request.query
        let shown = items.filter { $0.value != "…" }
        guard items.isEmpty || shown.count < items.count else { return QueryPattern(itemsOf: query) }
        return .containing(pairs: shown.map { ($0.name, $0.value) })
    }

    /// The response or the failure.
    fileprivate var answer: ScriptedAnswer {
        guard response.status >= 200 else {
            let reason = RequestFailure.Reason.all.first { $0.name == failure?.reason } ?? .connection
            return .failure(reason, message: failure?.message)
        }
        var fields = HTTPFields()
        for pair in response.headers
        where !Self.networkFields.contains(pair.name.lowercased()) && !pair.value.contains("…") {
            if let field = try? HTTPField.checked(name: pair.name, value: pair.value) { fields.append(field) }
        }
        let status = HTTPResponse.Status(code: min(response.status, 999), reasonPhrase: response.statusText)
        return ScriptedAnswer(status, data: response.body.bytes ?? Data(), headerFields: fields)
    }
}
