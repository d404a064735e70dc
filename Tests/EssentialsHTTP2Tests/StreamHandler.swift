import EssentialsTestKit
import NIOCore
import NIOHTTP1
import NIOHTTP2
import Synchronization

/// One stream of the test server, or one request after the other of an HTTP/1.1 connection.
final class StreamHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let server: ServerCore
    private let connection: Int
    private var head: HTTPRequestHead?
    private var ordinal = 0
    private var received = ByteBuffer()
    private var reply: StreamReply?
    private var offset = 0
    private var isOpen = false
    private var isWriting = false

    init(server: ServerCore, connection: Int) {
        self.server = server
        self.connection = connection
    }

    // MARK: Request

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            received.clear()
            isOpen = true
            ordinal = server.record.withLock { $0.began(head.uri, connection: connection) }
            if server.answersHeads { answer(context: context) }
        case .body(let bytes): received.writeImmutableBuffer(bytes)
        case .end: if !server.answersHeads { answer(context: context) }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        close()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let closed = error as? NIOHTTP2Errors.StreamClosed, isOpen, let path = head?.uri else { return }
        close()
        server.record.withLock { $0.resets[path, default: []].append(closed.errorCode) }
        server.onReset?(path)
    }

    private func close() {
        guard isOpen else { return }
        isOpen = false
        server.record.withLock { $0.ended(connection: connection) }
    }

    // MARK: Answer

    private func answer(context: ChannelHandlerContext) {
        guard let head else { return }
        let reply = server.handler(
            StreamRequest(
                method: head.method.rawValue, path: head.uri, headers: head.headers, body: received,
                connection: connection, ordinal: ordinal))
        self.reply = reply
        offset = 0
        run(context, after: reply.headGate) { handler, context in
            guard reply.body != nil else { return handler.end(context) }
            let head = HTTPResponseHead(
                version: .http1_1, status: HTTPResponseStatus(statusCode: reply.status), headers: reply.headers)
            context.writeAndFlush(handler.wrapOutboundOut(.head(head)), promise: nil)
            handler.writeBody(context)
        }
    }

    /// Goes on when a gate is open, on the event loop.
    private func run(
        _ context: ChannelHandlerContext, after gate: LoopbackGate?,
        _ step: @escaping @Sendable (StreamHandler, ChannelHandlerContext) -> Void
    ) {
        guard let gate else { return step(self, context) }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let eventLoop = context.eventLoop
        Task {
            await gate.opened()
            eventLoop.execute { step(bound.value.0, bound.value.1) }
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, reply?.body != nil, offset > 0 { writeBody(context) }
        context.fireChannelWritabilityChanged()
    }

    /// Writes while the peer's flow control and the socket take it.
    private func writeBody(_ context: ChannelHandlerContext) {
        guard !isWriting, isOpen, let body = reply?.body, offset <= body.count else { return }
        isWriting = true
        defer { isWriting = false }
        while context.channel.isWritable || offset == 0, let piece = body.piece(at: offset) {
            offset += piece.readableBytes
            let written = context.eventLoop.makePromise(of: Void.self)
            if let onWritten = server.onWritten {
                let count = piece.readableBytes
                written.futureResult.whenSuccess { onWritten(count) }
            }
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(piece))), promise: written)
        }
        guard offset == body.count else { return }
        offset += 1
        run(context, after: reply?.endGate) { $0.end($1) }
    }

    private func end(_ context: ChannelHandlerContext) {
        guard isOpen, let reply else { return }
        switch reply.end {
        case .whole:
            let trailers = reply.trailers.isEmpty ? nil : reply.trailers
            close()
            context.writeAndFlush(wrapOutboundOut(.end(trailers)), promise: nil)
        case .reset(let code):
            close()
            writeFrame(.rstStream(code), context)
        case .goAwayUnprocessed: goAway(context, countsThisIn: false)
        case .goAwayProcessed:
            goAway(context, countsThisIn: true)
            context.channel.parent?.close(promise: nil)
        case .close: (context.channel.parent ?? context.channel).close(promise: nil)
        case .never: break
        }
    }

    /// Writes a frame past the codec that speaks of requests and responses.
    private func writeFrame(_ payload: HTTP2Frame.FramePayload, _ context: ChannelHandlerContext) {
        let codec = try? context.pipeline.syncOperations.context(handlerType: HTTP2FramePayloadToHTTP1ServerCodec.self)
        codec?.writeAndFlush(NIOAny(payload), promise: nil)
    }

    private func goAway(_ context: ChannelHandlerContext, countsThisIn: Bool) {
        guard let id = try? context.channel.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID) else { return }
        let last = countsThisIn ? id : HTTP2StreamID(max(0, Int(id) - 2))
        let frame = HTTP2Frame(
            streamID: .rootStream, payload: .goAway(lastStreamID: last, errorCode: .noError, opaqueData: nil))
        context.channel.parent?.writeAndFlush(frame, promise: nil)
    }
}
