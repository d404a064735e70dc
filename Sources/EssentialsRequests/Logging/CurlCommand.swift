import EssentialsHTTP

/// Formats a request as a command line of curl, without secrets.
enum CurlCommand {
    static func text(of request: TransportRequest, _ redaction: Redaction) -> String {
        // With `-X HEAD`, curl would wait for a body.
        var words = request.method == .head ? ["curl", "--head"] : ["curl", "-X", quoted(request.method.rawValue)]
        for field in request.headerFields {
            let value = redaction.hides(field.name) ? "…" : field.value
            words += ["-H", quoted("\(field.name.rawName): \(value)")]
        }
        switch request.body.content {
        case .none: break
        case .bytes(let data): words += ["--data-binary", quoted("<\(data.count) bytes>")]
        case .stream(let length, _, _):
            words += ["--data-binary", quoted(length.map { "<\($0) bytes>" } ?? "<a stream>")]
        }
        words.append(quoted(redaction.text(of: request.url)))
        return words.joined(separator: " ")
    }

    /// The text in single quotes, in which the shell interprets only a single quote. The shell reads bytes, so quotes
    /// are found by scalar: a quote that a combining mark follows is not a `Character` of its own.
    static func quoted(_ text: String) -> String {
        var quoted = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { quoted += #"'\''"# } else { quoted.unicodeScalars.append(scalar) }
        }
        return quoted + "'"
    }
}
