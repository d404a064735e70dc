import EssentialsHTTP
import EssentialsTestKit
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization

/// What all streams of a test server share.
final class ServerCore: Sendable {
    let record = Mutex(ServerRecord())
    let handler: @Sendable (StreamRequest) -> StreamReply
    /// Called with the size of each piece of a body that went into a socket.
    let onWritten: (@Sendable (Int) -> Void)?
    /// Called with the path when the client resets a stream.
    let onReset: (@Sendable (String) -> Void)?
    let answersHeads: Bool

    init(options: HTTP2Server.Options, handler: @escaping @Sendable (StreamRequest) -> StreamReply) {
        self.handler = handler
        onWritten = options.onWritten
        onReset = options.onReset
        answersHeads = options.answersHeads
    }
}

/// An HTTP/2 server on 127.0.0.1: over TLS with ALPN, or without TLS by prior knowledge.
final class HTTP2Server: Sendable {
    struct Options: Sendable {
        /// The certificate; nil serves without TLS.
        var certificate: TestCertificate?
        /// What ALPN offers, best first.
        var applicationProtocols = ["h2", "http/1.1"]
        /// The most streams that a client may have open on a connection.
        var maximumStreams = 100
        /// False leaves every request unread: once the window is used up, a client may send no more.
        var readsRequests = true
        /// True answers as soon as a request's head has come, whatever becomes of its body.
        var answersHeads = false
        var onWritten: (@Sendable (Int) -> Void)?
        var onReset: (@Sendable (String) -> Void)?
    }

    private let core: ServerCore
    private let channel: any Channel
    private let isTLS: Bool
    let port: Int

    static func start(
        _ options: Options, handler: @escaping @Sendable (StreamRequest) -> StreamReply
    ) async throws -> HTTP2Server {
        let core = ServerCore(options: options, handler: handler)
        let tls = try options.certificate.map { try tlsContext($0, protocols: options.applicationProtocols) }
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                let connection = core.record.withLock { record in
                    record.protocols.append(nil)
                    return record.protocols.count - 1
                }
                return configure(channel, core: core, connection: connection, tls: tls, options: options)
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return HTTP2Server(core: core, channel: channel, isTLS: tls != nil, port: channel.localAddress?.port ?? 0)
    }

    private init(core: ServerCore, channel: any Channel, isTLS: Bool, port: Int) {
        self.core = core
        self.channel = channel
        self.isTLS = isTLS
        self.port = port
    }

    /// What was seen so far.
    var record: ServerRecord { core.record.withLock { $0 } }

    func url(_ path: String = "/") throws -> RequestURL {
        try RequestURL("\(isTLS ? "https" : "http")://127.0.0.1:\(port)\(path)")
    }

    /// Takes no more connections.
    func stop() async { try? await channel.close() }

    // MARK: Pipelines

    private static func tlsContext(_ certificate: TestCertificate, protocols: [String]) throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificatePEM.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(certificate.privateKeyPEM.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.applicationProtocols = protocols
        return try NIOSSLContext(configuration: configuration)
    }

    private static func configure(
        _ channel: any Channel, core: ServerCore, connection: Int, tls: NIOSSLContext?, options: Options
    ) -> EventLoopFuture<Void> {
        guard let tls else { return configureHTTP2(channel, core: core, connection: connection, options: options) }
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
        }.flatMap {
            channel.configureHTTP2SecureUpgrade(
                h2ChannelConfigurator: {
                    configureHTTP2($0, core: core, connection: connection, options: options)
                },
                http1ChannelConfigurator: { configureHTTP1($0, core: core, connection: connection) })
        }
    }

    private static func configureHTTP2(
        _ channel: any Channel, core: ServerCore, connection: Int, options: Options
    ) -> EventLoopFuture<Void> {
        core.record.withLock { $0.protocols[connection] = "h2" }
        let settings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: options.maximumStreams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: 1 << 16),
        ]
        return channel.configureHTTP2Pipeline(mode: .server, initialLocalSettings: settings) { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.syncOptions?.setOption(.autoRead, value: options.readsRequests)
                try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
                try stream.pipeline.syncOperations.addHandler(StreamHandler(server: core, connection: connection))
            }
        }.map { _ in }
    }

    private static func configureHTTP1(
        _ channel: any Channel, core: ServerCore, connection: Int
    ) -> EventLoopFuture<Void> {
        core.record.withLock { $0.protocols[connection] = "http/1.1" }
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.configureHTTPServerPipeline()
            try channel.pipeline.syncOperations.addHandler(StreamHandler(server: core, connection: connection))
        }
    }
}
