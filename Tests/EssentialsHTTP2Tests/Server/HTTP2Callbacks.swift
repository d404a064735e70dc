import CNghttp2

/// nghttp2's functions that take callbacks or pointers, for `HTTP2Session`.
enum HTTP2Callbacks {
    /// Makes the server's side of a connection. `user` is an unretained `HTTP2Session`, which outlives the session.
    static func makeSession(user: UnsafeMutableRawPointer, updatesWindows: Bool) -> OpaquePointer? {
        var callbacks: OpaquePointer?
        var option: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&option) == 0 else { return nil }
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(option)
        }
        nghttp2_option_set_no_auto_window_update(option, updatesWindows ? 0 : 1)
        setRequestCallbacks(callbacks)
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let frame, let session = HTTP2Callbacks.session(user) else { return 0 }
            HTTP2Callbacks.deliver(frame.pointee, to: session)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, _, user in
            HTTP2Callbacks.session(user)?.closed(stream: stream)
            return 0
        }
        var session: OpaquePointer?
        nghttp2_session_server_new2(&session, callbacks, user, option)
        return session
    }

    private static func setRequestCallbacks(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
            guard let frame, frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
            HTTP2Callbacks.session(user)?.began(stream: frame.pointee.hd.stream_id)
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, frame, name, length, value, count, _, user in
            guard let frame, frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
            HTTP2Callbacks.session(user)?.header(
                stream: frame.pointee.hd.stream_id,
                name: String(decoding: UnsafeBufferPointer(start: name, count: length), as: UTF8.self),
                value: String(decoding: UnsafeBufferPointer(start: value, count: count), as: UTF8.self))
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, user in
            HTTP2Callbacks.session(user)?.body(stream: stream, UnsafeBufferPointer(start: bytes, count: count))
            return 0
        }
    }

    /// The session that nghttp2 hands back to its callbacks. It is alive, because only its own methods call nghttp2.
    private static func session(_ user: UnsafeMutableRawPointer?) -> HTTP2Session? {
        user.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func deliver(_ frame: nghttp2_frame, to session: HTTP2Session) {
        guard let kind = RawFrame.Kind(rawValue: frame.hd.type) else { return }
        let code: UInt32? =
            switch kind {
            case .resetStream: frame.rst_stream.error_code
            case .goAway: frame.goaway.error_code
            default: nil
            }
        let record = ServerRecord.Frame(
            connection: session.connection, kind: kind, stream: UInt32(bitPattern: frame.hd.stream_id),
            code: code.map(HTTP2ErrorCode.init))
        session.received(
            record, beginsRequest: kind == .headers && frame.headers.cat == NGHTTP2_HCAT_REQUEST,
            endsStream: (kind == .headers || kind == .data) && frame.hd.flags & RawFrame.endStream != 0)
    }

    /// Calls nghttp2 with fields, which it copies.
    @discardableResult
    static func withFields<Result>(
        _ fields: HeaderList, _ call: (UnsafePointer<nghttp2_nv>?, Int) -> Result
    ) -> Result {
        let lengths = fields.map { (name: $0.name.utf8.count, value: $0.value.utf8.count) }
        var text = fields.flatMap { Array($0.name.utf8) + Array($0.value.utf8) }
        return text.withUnsafeMutableBufferPointer { text in
            var next = text.baseAddress
            let pairs = lengths.map { length in
                let name = next
                let value = name.map { $0 + length.name }
                next = value.map { $0 + length.value }
                return nghttp2_nv(
                    name: name, value: value, namelen: length.name, valuelen: length.value,
                    flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
            }
            return call(pairs, pairs.count)
        }
    }

    /// Calls nghttp2 with a body that the stream's `HTTP2Session` provides piece by piece.
    static func withBody<Result>(_ call: (UnsafePointer<nghttp2_data_provider>) -> Result) -> Result {
        var provider = nghttp2_data_provider()
        provider.read_callback = { _, stream, buffer, size, flags, _, user in
            guard let session = HTTP2Callbacks.session(user) else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
            let room = UnsafeMutableBufferPointer(start: buffer, count: size)
            guard let read = session.readBody(stream: stream, into: room) else {
                return Int(NGHTTP2_ERR_DEFERRED.rawValue)
            }
            if read.isLast {
                flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
                if session.submitTrailers(stream: stream) { flags?.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue }
            }
            return read.count
        }
        return call(&provider)
    }
}
