import EssentialsHTTP
import EssentialsTransport
import FoundationEssentials

/// A request as a command line of curl. What is hidden in it was hidden before.
struct CurlCommand {
    /// The body of the request.
    enum Body {
        case none
        case bytes(Data)
        /// A body that is not shown, and its size if it is known. Its place is that of a file that the user provides.
        case file(size: Int?)

        /// The body as it is shown.
        ///
        /// - Parameter redaction: Hides secrets; `nil` shows them.
        init(_ body: RequestBody, type: String?, coding: String?, _ redaction: Redaction?) {
            switch body.content {
            case .none: self = .none
            case .stream(let length, _, _): self = .file(size: length)
            case .bytes(let data) where data.count > Self.maximumBytes: self = .file(size: data.count)
            case .bytes(let data): self = .bytes(redaction?.shown(body: data, type: type, coding: coding) ?? data)
            }
        }

        /// The maximum size of a body that is a part of the command. Linux limits an argument to 128 KiB.
        private static let maximumBytes = 64 << 10
    }

    let method: HTTPRequest.Method
    let url: String
    let fields: HTTPFields
    let body: Body
    /// Options that come first, such as `--unix-socket` with a path. The value is `nil` for an option that takes none.
    var options: [(name: String, value: String?)] = []

    /// The command for a shell.
    var text: String {
        var words = ["curl"]
        for option in options { words += [option.name] + (option.value.map { [Self.quoted($0)] } ?? []) }
        var (pipe, file) = ("", "")
        switch body {
        case .none:
            // With `-X HEAD`, curl would wait for a body.
            words += method == .head ? ["--head"] : ["-X", Self.quoted(method.rawValue)]
            // The length of no body (RFC 9110, 8.6), which curl does not send by itself.
            if [.post, .put, .patch].contains(method) { words += ["-H", "'Content-Length: 0'"] }
            words += fieldWords
        case .bytes(let data):
            words += ["-X", Self.quoted(method.rawValue)] + fieldWords
            // An argument of a program is text without a zero byte, and other control characters would act on a terminal.
            if let text = String(validating: data, as: UTF8.self), !data.contains(where: Self.isControl) {
                words += ["--data-raw", Self.quoted(text)]
            } else {
                pipe = "printf \(Self.quoted(Self.octal(data))) | "
                words += ["--data-binary", "@-"]
            }
        case .file(let size):
            words += ["-X", Self.quoted(method.rawValue)] + fieldWords
            // For a long body, curl would wait for “100 Continue” of the server.
            if !fields.contains(where: { $0.name.canonicalName == "expect" }) { words += ["-H", "'Expect:'"] }
            words += ["--data-binary", "@-"]
            // The shell opens the file, because curl would send an empty body without it.
            file = " <\(size.map { "body-of-\($0)-bytes" } ?? "body")"
        }
        // curl would expand braces and brackets in the URL.
        return pipe + (words + ["--globoff", Self.quoted(url)]).joined(separator: " ") + file
    }

    private static func isControl(_ byte: UInt8) -> Bool {
        byte < 0x20 && ![0x09, 0x0a, 0x0d].contains(byte) || byte == 0x7f
    }

    private var fieldWords: [String] {
        var words: [String] = []
        for field in fields {
            // curl sends a field without a value only with a semicolon instead of the colon.
            let text = field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)"
            words += ["-H", Self.quoted(text)]
        }
        // curl adds the type of a form to a body without one.
        if case .none = body {} else if !fields.contains(.contentType) { words += ["-H", "'Content-Type:'"] }
        return words
    }

    /// The bytes as octal escapes, which every `printf` writes.
    private static func octal(_ data: Data) -> String {
        data.map { byte in
            let digits = String(byte, radix: 8)
            return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
        }.joined()
    }

    /// The text in single quotes, in which the shell interprets only a single quote. The shell reads bytes, so quotes
    /// are found by scalar: a quote that a combining mark follows is not a `Character` of its own.
    static func quoted(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "'")) else { return "'\(text)'" }
        var quoted = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { quoted += #"'\''"# } else { quoted.unicodeScalars.append(scalar) }
        }
        return quoted + "'"
    }
}

extension ObservedRequest {
    /// A command line for a shell that sends the same request with curl.
    ///
    /// Secrets are hidden. The body is not known here, so its place is that of a file, whose name says how many bytes it has.
    public var curlCommand: String {
        let body: CurlCommand.Body = hasBody ? .file(size: bodySize) : .none
        return CurlCommand(method: method, url: url, fields: headerFields, body: body).text
    }
}
