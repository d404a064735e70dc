import ArgumentParser
import EssentialsObservability
import ServiceEssentials

/// What all commands that send requests make from these options.
extension RequestOptions {
    /// Refuses options for the body that exclude each other.
    func checkParts(of body: BodyOptions) throws {
        if !body.parts.isEmpty, hasHeader("content-type") {
            throw ValidationError("Give --part or --header Content-Type, not both. --part sets its own content type.")
        }
    }

    /// Refuses members of a JSON body together with another body.
    func checkMembers(beside body: BodyOptions) throws {
        if hasMembers, let option = body.given.first {
            throw ValidationError("Give \(option) or members of a JSON body such as name=text, not both.")
        }
    }

    /// Creates the request with its body and the type of the body.
    func request(
        _ method: HTTPRequest.Method, _ environment: EnvironmentOptions, body: BodyOptions?
    ) throws(RequestFailure) -> DataRequest {
        var sent = try request(method, environment)
        var standardType = body?.standardType
        if hasMembers {
            sent.body = .raw(.bytes(InputFile.bytes(of: try members())))
            standardType = .json
        } else if let body {
            sent.body = try body.content()
        }
        if !hasHeader("content-type") { sent.headerFields[.contentType] = standardType?.description }
        // Every status reaches the command, which decides what a failure is.
        sent.expectedStatus = .any
        return sent
    }

    /// Creates the service that sends the requests.
    ///
    /// - Parameters:
    ///   - authorization: The credentials.
    ///   - transport: The transport, which already enforces the environment's policy for every request.
    ///   - environment: The environment.
    ///   - retry: The retry policy. Each retry is printed.
    ///   - cookies: The cookies; `nil` for none. They are saved when the service shuts down.
    ///   - cache: The stored responses, and whose they are; `nil` for none.
    ///   - log: Prints the requests and responses; `nil` if they are not printed.
    ///   - recorder: Records the requests and responses; `nil` if they are not recorded.
    ///   - preview: Prints the request instead of sending it; `nil` if it is sent.
    func service(
        with authorization: AuthorizationOptions, over transport: CurlTransport, in environment: EnvironmentSnapshot,
        retry: RetryPolicy = .never,
        cookies: CookieJar? = nil, cache: (responses: ResponseCache, account: EntityPartition)? = nil, log: VerboseLog?,
        recorder: HARRecorder? = nil, preview: RequestPreview? = nil
    ) throws(RequestFailure) -> HTTPDataRequestService {
        var credentials =
            hasHeader("authorization")
            ? nil
            : try authorization.credentials(
                over: ToolTransport(transport: transport, userAgent: EssentialsTool.userAgent, log: log))
        var environment = environment
        environment.trust = nil
        var configuration = HTTPDataRequestService.Configuration()
        configuration.userAgent = EssentialsTool.userAgent
        configuration.retry = retry
        configuration.cookies = cookies
        configuration.cache = cache?.responses
        if retry != .never { configuration.logger = RetryLog.logger }
        if let recorder {
            configuration.observers = [recorder]
            // Only the values of items that look secret are hidden.
            configuration.redaction.query = .hidden([])
        }
        let service = HTTPDataRequestService(
            environment: ConstantEnvironment(environment),
            transport: ToolTransport(
                transport: transport, removedFields: removedFields.compactMap { HTTPField.Name($0) }, log: log,
                preview: preview),
            configuration: configuration)
        if credentials != nil, let account = cache?.account { credentials?.account = account }
        if let credentials { service.setAuthorization(credentials) }
        return service
    }

    /// The options that let curl use Digest. All other credentials are a header field of the request.
    func curlOptions(
        _ authorization: AuthorizationOptions, _ output: OutputOptions
    ) -> [(name: String, value: String?)] {
        guard !hasHeader("authorization"), let account = authorization.digestAccount else { return [] }
        let shown = output.showsSecrets ? account : account.prefix { $0 != ":" } + ":…"
        return [("--digest", nil), ("--user", shown)]
    }
}
