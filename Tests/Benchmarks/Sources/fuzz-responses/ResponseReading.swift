internal import FoundationEssentials
internal import Glibc
internal import ServiceEssentials

/// Reads responses with all the readers of the package.
struct ResponseReading: Sendable {
    static let ways = 9

    private let service: HTTPDataRequestService
    private let authorized: HTTPDataRequestService
    private let transport: CurlTransport
    private let url: String
    private let isHTTP2: Bool
    private let file: String

    init(url: String, transport: CurlTransport, isHTTP2: Bool) throws {
        (self.url, self.transport, self.isHTTP2) = (url, transport, isHTTP2)
        file = "/tmp/fuzz-responses-\(getpid())-\(try RequestURL(url).origin.port)"
        var configuration = HTTPDataRequestService.Configuration()
        let origin = try RequestURL(url).origin
        // The damaged Location of a redirect must not lead to another server.
        configuration.redirects = .deciding(limit: 3) { $0.hop.to.origin == origin ? .follow : .stop }
        let environment = try ConstantEnvironment(url)
        service = HTTPDataRequestService(
            environment: environment, transport: transport, configuration: configuration)
        authorized = HTTPDataRequestService(
            environment: environment, transport: transport, configuration: configuration)
        authorized.setAuthorization(try .digest(user: "ada", password: "secret"))
    }

    private var options: TransportOptions {
        var options = TransportOptions()
        options.totalTimeout = .seconds(10)
        if isHTTP2 { options.protocolVersion = .http2 }
        return options
    }

    /// The text of a valid response.
    func sound(_ path: String) async throws(RequestFailure) -> String {
        var request = DataRequest(.get, path)
        request.options = options
        let body = try await service.send(request).body.collect(upTo: 1_000)
        return String(decoding: body, as: UTF8.self)
    }

    /// The status of a response without a redirect; `nil` after a redirect or if the status was not read.
    func read(_ way: Int, number: Int) async -> Result<Int?, RequestFailure> {
        do throws(RequestFailure) {
            return .success(try await status(way, number))
        } catch {
            // The texts of a failure are created from the received data.
            _ = "\(error)".utf8.count + (error.remedy?.utf8.count ?? 0)
            _ = error.response?.retryAfter()
            touch(error.response?.head.headerFields ?? [:])
            return .failure(error)
        }
    }

    private func status(_ way: Int, _ number: Int) async throws(RequestFailure) -> Int? {
        var request = DataRequest(.get, "fuzz/\(number)")
        request.options = options
        switch way {
        case 0: return try await status(of: request, as: JSONValue.self)
        case 1: return try await status(of: request, as: String.self)
        case 2: return try await status(of: request, as: [String: Int].self)
        case 3:
            request.options.delivery = .streamed
            let response = try await service.send(request)
            for try await event in response.body.serverSentEvents() { _ = event.data.utf8.count }
            return status(of: response)
        case 4:
            request.options.delivery = .streamed
            let response = try await service.send(request)
            for try await line in response.body.lines() { _ = line.utf8.count }
            return status(of: response)
        case 5: return try await raw(number)
        case 6: return try await download(request)
        case 7:
            let response = try await authorized.send(request)
            touch(response.headerFields)
            return status(of: response)
        default:
            request.errorModel = JSONValue.self
            return try await status(of: request, as: [String].self)
        }
    }

    private func status<Model: Decodable & Sendable>(
        of request: DataRequest, as type: Model.Type
    ) async throws(RequestFailure) -> Int? {
        let answer = try await service.response(to: request, as: type)
        touch(answer.response.headerFields)
        return status(of: answer.response)
    }

    private func status(of response: DataResponse) -> Int? {
        response.redirects.isEmpty ? response.status.code : nil
    }

    /// Reads the transport's response with all parts that are parsed on demand.
    private func raw(_ number: Int) async throws(RequestFailure) -> Int? {
        var request = TransportRequest(.get, try RequestURL("\(url)/fuzz/\(number)"))
        request.options = options
        let response = try await transport.send(request)
        touch(response.headerFields)
        touch(response.trailerFields)
        for head in response.informational { touch(head.headerFields) }
        _ = "\(response.connection) \(response.metrics)".utf8.count
        return response.status.code
    }

    /// Resumes the last download of this server, and rarely starts a new one.
    private func download(_ request: DataRequest) async throws(RequestFailure) -> Int? {
        var options = DownloadOptions()
        options.resumes = true
        options.existing = .replace
        _ = try await service.download(request, to: file, options: options)
        unlink(file)
        return nil
    }

    private func touch(_ fields: HTTPFields) {
        for field in fields { _ = field.value.utf8.count + field.name.canonicalName.utf8.count }
        if let type = fields[.contentType] { _ = try? MediaType(type) }
    }
}
