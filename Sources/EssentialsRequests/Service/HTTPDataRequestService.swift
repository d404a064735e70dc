public import Dispatch
public import EssentialsHTTP
import FoundationEssentials
public import Logging

/// The data-request service over a transport.
///
/// ```swift
/// let requests = HTTPDataRequestService(
///     environment: try ConstantEnvironment("https://api.example.com/v1/"), transport: transport)
/// let user: User = try await requests.get("users/1")
/// ```
///
/// It joins the path under the environment's base URL, fills in the environment's fields and trust policy, sends through the transport and
/// judges the status. It follows no redirect. Callable from any task.
public struct HTTPDataRequestService: DataRequestService {
    private let environment: any EnvironmentService
    private let transport: any Transport
    private let logger: Logger
    /// The queue that the initialiser was given.
    public let callbackQueue: DispatchQueue

    /// Makes a service.
    ///
    /// - Parameters:
    ///   - environment: Where requests go; asked once for each.
    ///   - transport: How they travel. The service does not shut it down unless ``shutdown()`` is called.
    ///   - callbackQueue: Where completion handlers run that name no queue.
    ///   - logger: Receives one debug message per unexpected status, without query, fields or bodies. Silent by default.
    public init(
        environment: any EnvironmentService, transport: any Transport,
        callbackQueue: DispatchQueue = DispatchQueue(label: "essentials.service"),
        logger: Logger = Logger(label: "essentials.requests", factory: { _ in SwiftLogNoOpLogHandler() })
    ) {
        self.environment = environment
        self.transport = transport
        self.callbackQueue = callbackQueue
        self.logger = logger
    }

    /// Sends a request; see the protocol.
    public func send(_ request: DataRequest) async throws(RequestFailure) -> TransportResponse {
        let prepared = try prepare(request)
        let response = try await transport.send(prepared)
        try judge(response, to: request, url: prepared.url)
        return response
    }

    /// Shuts the transport down: what runs ends as `cancelled`, what comes later as `closed`.
    public func shutdown() async { await transport.shutdown() }

    private func prepare(_ request: DataRequest) throws(RequestFailure) -> TransportRequest {
        let environment = environment.snapshot
        var url = try PathRules.join(request.path, to: environment.baseURL)
        let query = request.parameters.query
        if !query.isEmpty { url = url.appending(encodedQuery: query) }
        var fields = request.headerFields
        for field in environment.headerFields where !request.headerFields.contains(field.name) { fields.append(field) }
        var options = request.options
        options.trust = options.trust ?? environment.trust
        return TransportRequest(request.method, url, headerFields: fields, body: request.body, options: options)
    }

    private func judge(
        _ response: TransportResponse, to request: DataRequest, url: RequestURL
    ) throws(RequestFailure) {
        let code = response.status.code
        guard !request.expectedStatus.contains(where: { $0.contains(code) }) else { return }
        logger.debug("unexpected status", metadata: ["url": "\(url.redacted)", "status": "\(code)"])
        throw RequestFailure(
            .status, "\(request.method.rawValue) \(url.redacted) was answered with the status \(code).",
            phase: .receiving, host: url.origin.host.text,
            response: FailedResponse(head: response.head, body: response.body.data ?? Data()))
    }
}
