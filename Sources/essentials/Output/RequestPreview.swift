import EssentialsTools
import EssentialsTransport
import FoundationEssentials
import ServiceEssentials

/// Prints the request that would be sent, for `--offline` and `--curl`.
final class RequestPreview: Sendable {
    /// How the request is shown.
    enum Form: Sendable {
        case request, command

        /// The option for it.
        var option: String { self == .request ? "--offline" : "--curl" }
    }

    private let form: Form
    private let showsSecrets: Bool
    private let style: BodyStyle
    private let options: [(name: String, value: String?)]
    private let isPrinted = Atomic(false)

    /// - Parameter options: What --curl prints beside the request: how to connect, and the account for Digest.
    init(_ form: Form, showsSecrets: Bool, _ style: BodyStyle, options: [(name: String, value: String?)]) {
        (self.form, self.showsSecrets, self.style, self.options) = (form, showsSecrets, style, options)
    }

    /// Whether a request was printed, so that its failure means nothing.
    var isDone: Bool { isPrinted.load(ordering: .relaxed) }

    /// Prints a request, and fails, because there will be no response.
    ///
    /// - Parameter fields: All field lines of the request.
    func send(_ request: TransportRequest, fields: [String]) throws(RequestFailure) -> Never {
        switch form {
        case .request: try print(request, fields)
        case .command:
            let command = request.curlCommand(showsSecrets: showsSecrets, options: options)
            try StandardStream.output.write(command + "\n")
        }
        isPrinted.store(true, ordering: .relaxed)
        throw RequestFailure(.cancelled, "The request was printed and not sent.", phase: .preparation)
    }

    private func print(_ request: TransportRequest, _ fields: [String]) throws(RequestFailure) {
        let text = VerboseLog(showsSecrets: showsSecrets)
        let lines =
            ["\(request.method.rawValue) \(text.shown(target: request.url.target)) HTTP/1.1"]
            + fields.map(text.shown(line:))
        try StandardStream.output.write((lines + ["", ""]).joined(separator: "\n"))
        switch request.body.content {
        case .none: break
        case .bytes(let data):
            let type = request.headerFields[.contentType]
            var printer = BodyPrinter(style, type: type)
            let shown = showsSecrets ? data : Redaction().shown(body: data, type: type)
            try shown.span.bytes.withUnsafeBytes { bytes throws(RequestFailure) in try printer.print(bytes) }
            try printer.end()
        case .stream: StandardStream.error.printLine("* with a body of \(request.body.shownLength ?? "")")
        }
    }
}
