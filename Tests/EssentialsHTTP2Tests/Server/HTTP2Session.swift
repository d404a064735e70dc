import CNghttp2
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials

/// HTTP/2 on a connection of the test server: nghttp2 keeps the protocol's state, and this object calls the handler and
/// plays its replies.
///
/// Belongs to the server's thread. nghttp2 calls back only from within its own functions, with the pointer to this object
/// that `init` gave it; the object frees the session before it goes.
final class HTTP2Session: ServedProtocol {
    private static let bodyLimit = 64 << 20
    private static let rawByteLimit = 64 << 20

    private let core: ServerCore
    let connection: Int
    private var session: OpaquePointer?
    private var streams: [Int32: HTTP2Stream] = [:]
    /// Streams whose next step can be taken, in order.
    private var ready: [Int32] = []
    /// How many bytes of bodies nghttp2 has taken for the output that is being filled.
    private var bodyCount = 0
    private var rawByteCount = 0
    /// Whether what was made so far is written before anything else is made.
    private var flushes = false
    /// Whether the connection ends when nghttp2 has nothing left to send.
    private var isClosing = false
    private(set) var isOver = false

    init?(_ core: ServerCore, connection: Int) {
        self.core = core
        self.connection = connection
        session = HTTP2Callbacks.makeSession(
            user: Unmanaged.passUnretained(self).toOpaque(), updatesWindows: core.options.readsRequests)
        guard session != nil else { return nil }
        let settings = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
                value: UInt32(core.options.maximumStreams)),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: 1 << 16),
        ]
        guard nghttp2_submit_settings(session, flags, settings, settings.count) == 0 else { return nil }
    }

    deinit {
        nghttp2_session_del(session)
    }

    private var flags: UInt8 { UInt8(NGHTTP2_FLAG_NONE.rawValue) }

    // MARK: Bytes

    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if isOver { return true }
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return nghttp2_session_mem_recv(session, start, bytes.count) >= 0
    }

    func fill(_ output: inout OutputBuffer) {
        while output.hasRoom, !isOver {
            var data: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &data)
            if count > 0 {
                output.append(UnsafeRawBufferPointer(start: data, count: count))
            } else if count < 0 {
                isOver = true
            } else if isClosing {
                isOver = true
            } else {
                // Only here is nothing of nghttp2's own under way, so that frames can be put between its frames.
                guard let stream = nextReady() else { break }
                step(stream, &output)
                if flushes { break }
            }
        }
        flushes = false
        output.bodyCount += bodyCount
        bodyCount = 0
    }

    func connectionEnded() {
        for stream in streams.values { finish(stream) }
        streams = [:]
    }

    // MARK: Requests

    func began(stream id: Int32) { streams[id] = HTTP2Stream(id: id) }

    func header(stream id: Int32, name: String, value: String) {
        guard let stream = streams[id] else { return }
        switch name {
        case ":method": stream.method = value
        case ":path": stream.path = value
        case ":authority": stream.headers.append(name: "host", value: value)
        case ":scheme": break
        default: stream.headers.append(name: name, value: value)
        }
    }

    func body(stream id: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
        guard let stream = streams[id] else { return }
        guard stream.body.count + bytes.count <= Self.bodyLimit else { return reset(id, .enhanceYourCalm) }
        if core.options.readsRequests { stream.body.append(bytes) }
    }

    func received(_ frame: ServerRecord.Frame, beginsRequest: Bool, endsStream: Bool) {
        if frame.kind != .data { core.record.withLock { $0.received(frame) } }
        guard let stream = streams[Int32(bitPattern: frame.stream)] else { return }
        if beginsRequest {
            stream.isOpen = true
            stream.ordinal = core.record.withLock { $0.began(stream.path, connection: connection) }
        }
        if frame.kind == .resetStream, stream.isOpen, let code = frame.code {
            finish(stream)
            core.record.withLock { $0.resets[stream.path, default: []].append(code) }
            core.options.onReset?(stream.path)
        } else if core.options.answersHeads ? beginsRequest : endsStream && core.options.readsRequests {
            answer(stream)
        }
    }

    func closed(stream id: Int32) {
        guard let stream = streams.removeValue(forKey: id) else { return }
        finish(stream)
    }

    private func answer(_ stream: HTTP2Stream) {
        let reply = core.handler(
            StreamRequest(
                method: stream.method, path: stream.path, headers: stream.headers, body: stream.body,
                connection: connection, ordinal: stream.ordinal))
        stream.reply = reply
        stream.steps = reply.allSteps[...]
        ready.append(stream.id)
    }

    private func finish(_ stream: HTTP2Stream) {
        stream.stopWaiting()
        guard stream.isOpen else { return }
        stream.isOpen = false
        core.record.withLock { $0.ended(connection: connection) }
    }

    // MARK: Replies

    func gateOpened(stream id: Int32) {
        guard let stream = streams[id] else { return }
        stream.stopWaiting()
        ready.append(id)
    }

    private func nextReady() -> HTTP2Stream? {
        while !ready.isEmpty {
            if let stream = streams[ready.removeFirst()] { return stream }
        }
        return nil
    }

    /// Takes a stream's next step. The stream is ready again unless it waits or has ended.
    private func step(_ stream: HTTP2Stream, _ output: inout OutputBuffer) {
        guard let step = stream.steps.first else { return }
        switch step {
        case .wait(let gate):
            guard gate.isOpen else { return stream.wait(for: gate, core, connection: connection) }
        case .frames(let make):
            if let frame = make(UInt32(bitPattern: stream.id), stream.frameCount) {
                stream.frameCount += 1
                send(frame, &output)
                return ready.append(stream.id)
            }
            stream.frameCount = 0
        case .maximumStreams(let count):
            let id = Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue)
            let settings = [nghttp2_settings_entry(settings_id: id, value: UInt32(count))]
            nghttp2_submit_settings(session, flags, settings, 1)
        case .flush: flushes = true
        case .respond:
            stream.steps.removeFirst()
            // The body makes the stream ready again at its end.
            return respond(stream)
        case .end:
            stream.steps.removeFirst()
            return end(stream)
        }
        stream.steps.removeFirst()
        ready.append(stream.id)
    }

    private func send(_ frame: RawFrame, _ output: inout OutputBuffer) {
        let bytes = frame.bytes
        rawByteCount += bytes.count
        core.record.withLock { $0.rawByteCount += bytes.count }
        output.append(bytes)
        if rawByteCount > Self.rawByteLimit { isOver = true }
    }

    private func respond(_ stream: HTTP2Stream) {
        guard let reply = stream.reply, let body = reply.body else { return }
        var fields: HeaderList = [":status": String(reply.status)]
        for field in reply.headers { fields.append(name: field.name, value: field.value) }
        let endsWhole: Bool = if case .whole = reply.end { reply.endGate == nil } else { false }
        stream.mayEnd = endsWhole
        if endsWhole, body.count == 0, reply.trailers.isEmpty {
            finish(stream)
            HTTP2Callbacks.withFields(fields) { nghttp2_submit_response(session, stream.id, $0, $1, nil) }
        } else {
            HTTP2Callbacks.withFields(fields) { pointer, count in
                HTTP2Callbacks.withBody { nghttp2_submit_response(session, stream.id, pointer, count, $0) }
            }
        }
    }

    /// Gives nghttp2 the next bytes of a body: how many, and whether they are the last.
    func readBody(stream id: Int32, into buffer: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, isLast: Bool)? {
        guard let stream = streams[id], let reply = stream.reply, let body = reply.body else { return (0, true) }
        let piece = body.bytes(from: stream.offset, upTo: buffer.count)
        _ = buffer.update(fromContentsOf: piece)
        stream.offset += piece.count
        bodyCount += piece.count
        guard stream.offset == body.count, stream.mayEnd else {
            if !piece.isEmpty || stream.isBodySent { return piece.isEmpty ? nil : (piece.count, false) }
            stream.isBodySent = true
            ready.append(id)
            return nil
        }
        finish(stream)
        return (piece.count, true)
    }

    /// The trailers that follow the last bytes of a body.
    func submitTrailers(stream id: Int32) -> Bool {
        guard let trailers = streams[id]?.reply?.trailers, !trailers.isEmpty else { return false }
        return HTTP2Callbacks.withFields(trailers) { nghttp2_submit_trailer(session, id, $0, $1) } == 0
    }

    private func end(_ stream: HTTP2Stream) {
        guard let reply = stream.reply, stream.isOpen else { return }
        switch reply.end {
        case .whole:
            stream.mayEnd = true
            nghttp2_session_resume_data(session, stream.id)
        case .reset(let code):
            finish(stream)
            reset(stream.id, code)
        case .goAwayUnprocessed: goAway(last: max(0, stream.id - 2))
        case .goAwayProcessed:
            goAway(last: stream.id)
            isClosing = true
        case .close: isClosing = true
        case .never: break
        }
    }

    private func reset(_ id: Int32, _ code: HTTP2ErrorCode) {
        nghttp2_submit_rst_stream(session, flags, id, code.rawValue)
    }

    private func goAway(last id: Int32) {
        nghttp2_submit_goaway(session, flags, id, UInt32(NGHTTP2_NO_ERROR.rawValue), nil, 0)
    }
}
