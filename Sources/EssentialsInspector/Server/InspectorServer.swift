#if Inspector
    import EssentialsHTTP
    public import EssentialsLocator
    import EssentialsTools
    import FoundationEssentials
    import HTTPTypes
    import HummingbirdCore
    import HummingbirdTLS
    public import Logging
    import NIOCore
    import NIOPosix
    public import ServiceLifecycle

    /// A web server for the page of an inspector, as one service of a group, which needs the trait `Inspector`.
    ///
    /// ```swift
    /// let server = InspectorServer(inspector, of: locator) { address in
    ///     print("inspector \(address)")
    /// }
    /// let services: [any Service] = [ServiceLocatorService(locator), server]
    /// try await ServiceGroup(
    ///     services: services, gracefulShutdownSignals: [.sigterm],
    ///     logger: logger
    /// ).run()
    /// ```
    ///
    /// It serves ``InspectorRoutes``, whose rules hold, and listens on this machine only, unless its address is
    /// ``Address/exposed(host:port:token:tls:names:)``. The printed address has a token, so it is as confidential as the report.
    ///
    /// A connection that has not sent a whole request within 10 seconds is closed, as is one that sends a body. 64 connections are
    /// served at the same time; further ones wait.
    ///
    /// When its group shuts down, pages that follow get the end of their stream. Connections that do not read are closed after two
    /// seconds. The server can be used from any thread.
    public struct InspectorServer: Service {
        private static let maximumConnections = 64
        /// The time after the beginning of a shutdown at which all connections are closed.
        private static let grace = Duration.seconds(2)

        /// The time for the head of a request.
        var headTimeout = Duration.seconds(10)
        let routes: InspectorRoutes
        private let address: Address
        private let logger: Logger?
        private let onRunning: @Sendable (String) -> Void

        /// Creates a server, which listens while ``run()`` runs.
        ///
        /// - Parameters:
        ///   - inspector: The inspector.
        ///   - locator: Its services are drawn and asked for their health. It is retained.
        ///   - address: The address to listen on. The default is a free port of the loopback interface.
        ///   - logger: Receives messages of the level debug. None has the token. The default is `nil`, which writes none.
        ///   - onRunning: Receives the whole address of the page, with the token, as soon as the server listens.
        public init(
            _ inspector: Inspector, of locator: ServiceLocator? = nil, at address: Address = .loopback(port: 0),
            logger: Logger? = nil, onRunning: @escaping @Sendable (String) -> Void
        ) {
            (self.address, self.logger, self.onRunning) = (address, logger, onRunning)
            routes = InspectorRoutes(
                inspector, of: locator, path: "", hosts: address.hosts, token: address.token, isSecure: address.isSecure
            )
        }

        /// Serves the page until the group shuts down or the task is cancelled.
        ///
        /// - Throws: `InspectorServerError` if the server cannot listen.
        public func run() async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await listen() }
                group.addTask {
                    // A cancelled task does not wait, and then the server is cancelled too.
                    try? await gracefulShutdown()
                    try? await Task.sleep(for: Self.grace)
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }

        private func listen() async throws {
            switch address.kind {
            case .loopback(let port): try await listen(onLoopback: port)
            case .unixSocket(let path): try await listen(on: path)
            case .exposed(let exposed):
                let tls = try exposed.tls.configuration()
                try await serve(.hostname(exposed.host, port: exposed.port), .tls(builder, tlsConfiguration: tls)) {
                    announce("https://\(exposed.name):\($0.localAddress?.port ?? exposed.port)\(routes.address)")
                }
            }
        }

        // MARK: Listening

        /// Listens on 127.0.0.1, and then on ::1 with the same port.
        private func listen(onLoopback port: Int) async throws {
            let (ports, bound) = AsyncStream.makeStream(of: Int.self)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer { bound.finish() }
                    try await serve(.hostname("127.0.0.1", port: port), builder) { channel in
                        bound.yield(channel.localAddress?.port ?? port)
                        bound.finish()
                    }
                }
                if let port = await ports.first(where: { _ in true }) {
                    let text = "http://127.0.0.1:\(port)\(routes.address)"
                    group.addTask {
                        do {
                            try await serve(.hostname("::1", port: port), builder) { _ in announce(text) }
                        } catch let error as InspectorServerError where error.reason == .address {
                            logger?.debug("The inspector does not listen on ::1.", metadata: ["reason": "\(error)"])
                            announce(text)
                        }
                    }
                }
                // The first error ends the other server too.
                for try await _ in group {}
            }
        }

        private func listen(on path: String) async throws {
            let file = try SocketFile(path)
            defer { file.remove() }
            try await serve(.unixDomainSocket(path: file.boundPath), builder) { _ in
                try file.publish()
                announce("unix:\(path):\(routes.address)")
            }
        }

        private var builder: HTTPServerBuilder {
            .http1(configuration: HTTP1Channel.Configuration(idleTimeout: TimeAmount(headTimeout)))
        }

        private func announce(_ text: String) {
            logger?.debug("The inspector listens.", metadata: ["address": "\(address)"])
            onRunning(text)
        }

        private func serve(
            _ bindAddress: BindAddress, _ builder: HTTPServerBuilder,
            onRunning: @escaping @Sendable (any Channel) throws -> Void
        ) async throws {
            let failure = Mutex<(any Error)?>(nil)
            let silent = Logger(label: "inspector") { _ in SwiftLogNoOpLogHandler() }
            let server = try builder.buildServer(
                configuration: ServerConfiguration(
                    address: bindAddress,
                    availableConnectionsDelegate: .maximum(Self.maximumConnections, logger: silent)),
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: silent,
                responder: { [routes] request, writer, _ in try await Self.respond(to: request, routes, writer) },
                onServerRunning: { channel in
                    do {
                        try onRunning(channel)
                    } catch {
                        failure.withLock { $0 = error }
                        channel.close(promise: nil)
                    }
                })
            do {
                try await server.run()
            } catch {
                guard !Task.isCancelled else { return }
                throw InspectorServerError(.address, "The inspector cannot listen on \(address): \(error)")
            }
            if let error = failure.withLock({ $0 }) { throw error }
            guard Task.isCancelled || Task.isShuttingDownGracefully else {
                throw InspectorServerError(.stopped, "The inspector has stopped listening on \(address).")
            }
        }

        // MARK: Responding

        /// A body that no route reads. The connection is closed, because it could be endless.
        private struct RefusedBody: Error {}

        @concurrent private static func respond(
            to request: Request, _ routes: InspectorRoutes, _ writer: consuming ResponseWriter
        ) async throws {
            let response = await routes.respond(to: request.head)
            let hasBody =
                request.headers[.transferEncoding] != nil || request.headers[.contentLength].map { $0 != "0" } ?? false
            var head = response.head
            head.headerFields[.date] = HTTPDate.text(of: Date())
            if hasBody { head.headerFields[.connection] = "close" }
            switch response.body {
            case .bytes(let bytes):
                if head.headerFields[.contentLength] == nil { head.headerFields[.contentLength] = "\(bytes.count)" }
                try await writer.write(response: head, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
            case .events(let events):
                var body = try await writer.writeHead(head)
                // The server waits for its responses when it ends, and this one has no end of its own.
                for try await text in events.cancelOnGracefulShutdown() {
                    try await body.write(ByteBuffer(bytes: text))
                }
                try await body.finish(nil)
            }
            if hasBody { throw RefusedBody() }
        }
    }
#endif
