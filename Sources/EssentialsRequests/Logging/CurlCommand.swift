import EssentialsHTTP

/// Formats a request as a command line of curl, without secrets.
enum CurlCommand {
    static func text(of request: ObservedRequest) -> String {
        // With `-X HEAD`, curl would wait for a body.
        var words = request.method == .head ? ["curl", "--head"] : ["curl", "-X", quoted(request.method.rawValue)]
        for field in request.headerFields { words += ["-H", quoted("\(field.name.rawName): \(field.value)")] }
        if request.hasBody {
            words += ["--data-binary", quoted(request.bodySize.map { "<\($0) bytes>" } ?? "<a stream>")]
        }
        words.append(quoted(request.url))
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
