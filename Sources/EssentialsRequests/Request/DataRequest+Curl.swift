public import EssentialsHTTP
import EssentialsTransport

extension DataRequest {
    /// A command line for a shell that sends the same request with curl.
    ///
    /// ```swift
    /// print(try DataRequest(.get, "users/7").curlCommand(under: RequestURL("https://shop.example.com/v1/")))
    /// // curl -X 'GET' --globoff 'https://shop.example.com/v1/users/7'
    /// ```
    ///
    /// It has what the request itself says. What interceptors and the service add to every request is missing; see
    /// ``RequestDraft/curlCommand(codecs:showsSecrets:)`` and, for what was sent, ``ObservedRequest/curlCommand``. Paths are
    /// joined as a service with the default settings does.
    ///
    /// The values of secrets are shown as `…`: those of header fields, query items, items of a form and members of JSON whose
    /// names sound secret; see ``Redaction``. A body of at most 64 KiB is part of the command; bytes that are not text are
    /// written by `printf`. Other bodies are read from a file, whose name says how many bytes belong there, such as
    /// `<body-of-70000-bytes`; without that file the shell runs nothing.
    ///
    /// - Parameters:
    ///   - environment: The base URL of the environment, for a request without a base URL of its own.
    ///   - codecs: The codecs of the service that sends the request. They encode the body unless the request has its own.
    ///   - showsSecrets: Whether secrets are shown. The default is `false`.
    /// - Throws: `invalidRequest`, `encoding` or `file` if the request is invalid, and `invalidRequest` if there is no base
    ///   URL.
    public func curlCommand(
        under environment: RequestURL? = nil, codecs: CodecRegistry = .standard, showsSecrets: Bool = false
    ) throws(RequestFailure) -> String {
        let settings = ServiceSettings(codecs: codecs)
        let environment = try ownEnvironment(under: environment)
        return try ownRequest(try parts(in: environment, settings), in: environment, settings)
            .curlCommand(showsSecrets: showsSecrets)
    }

    /// The environment that the request names, or one with a base URL.
    private func ownEnvironment(under url: RequestURL?) throws(RequestFailure) -> EnvironmentSnapshot {
        if base.isAnyServer { return try self.environment(in: EnvironmentSnapshot(baseURL: .nowhere)).snapshot }
        if let own = base.ownEnvironment { return own }
        guard let base = try base.url ?? url else {
            throw RequestFailure(
                .invalidRequest, "The request has no base URL of its own.",
                remedy: "Pass the base URL of the environment.")
        }
        return EnvironmentSnapshot(baseURL: base)
    }
}

extension RequestDraft {
    /// A command line for a shell that sends the request, as it is now, with curl; see
    /// ``DataRequest/curlCommand(under:codecs:showsSecrets:)``.
    ///
    /// ```swift
    /// func prepare(_ draft: inout RequestDraft) async throws {
    ///     let command = try draft.curlCommand()
    ///     logger.trace("a draft", metadata: ["command": "\(command)"])
    /// }
    /// ```
    ///
    /// It also has the fields of the environment.
    ///
    /// - Parameters:
    ///   - codecs: The codecs of the service. They encode the body unless the request has its own.
    ///   - showsSecrets: Whether secrets are shown. The default is `false`.
    /// - Throws: `invalidRequest` or `encoding` if the request is invalid.
    public func curlCommand(
        codecs: CodecRegistry = .standard, showsSecrets: Bool = false
    ) throws(RequestFailure) -> String {
        try request.ownRequest(parts, in: environment, ServiceSettings(codecs: codecs))
            .curlCommand(showsSecrets: showsSecrets)
    }
}

extension ServiceSettings {
    /// The default settings with other codecs.
    convenience init(codecs: CodecRegistry) {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.codecs = codecs
        self.init(configuration)
    }
}

extension TransportRequest {
    /// A command line of curl for the request as it is sent.
    ///
    /// - Parameter options: Options that come first, such as `--unix-socket` with a path. The value is `nil` for an option that
    ///   takes none.
    package func curlCommand(showsSecrets: Bool, options: [(name: String, value: String?)] = []) -> String {
        let redaction = showsSecrets ? nil : Redaction.named
        return CurlCommand(
            method: method, url: redaction?.text(of: url) ?? url.description,
            fields: redaction?.shown(headerFields) ?? headerFields,
            body: .init(body, type: headerFields[.contentType], coding: headerFields[.contentEncoding], redaction),
            options: options
        ).text
    }
}
