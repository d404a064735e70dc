import EssentialsTools

/// Serves one connection, request after request, on its own thread.
struct ServerConnection {
    /// What happens after a list of steps.
    private enum Outcome {
        case continues
        case ends(ServerChannel.End)
    }

    private let index: Int
    private let channel: ServerChannel
    private let run: ServerRun

    init(index: Int, socket: ConnectionSocket, run: ServerRun) {
        self.index = index
        self.run = run
        channel = ServerChannel(socket)
    }

    func serve() {
        channel.end(converse(), interruption: run.interruption)
    }

    private func converse() -> ServerChannel.End {
        if let steps = run.options.onAccept?(index), !steps.isEmpty, case .ends(let end) = perform(steps) { return end }
        if let tls = run.tls {
            guard let record = channel.secure(tls, connection: index) else { return .reset }
            run.records.withLock { $0.handshakes.append(record) }
            guard record.succeeded else { return .truncated }
        }
        if let steps = run.options.onConnect?(index), !steps.isEmpty, case .ends(let end) = perform(steps) {
            return end
        }
        var parser = RequestParser(headMaximum: run.options.headMaximum, bodyMaximum: run.options.bodyMaximum)
        var count = 0
        while !run.isStopped {
            switch parser.next() {
            case .needsBytes:
                guard let bytes = read() else { return .orderly(patience: .zero) }
                parser.append(bytes)
            case .head(var head, let expectsContinue):
                head.connection = index
                head.numberOnConnection = count
                if let end = answerEarly(head) { return end }
                if expectsContinue, !channel.write(ServerReply.head(status: 100, headers: [])) {
                    return .orderly(patience: .zero)
                }
            case .request(var request):
                request.connection = index
                request.numberOnConnection = count
                count += 1
                if case .ends(let end) = answer(request) { return end }
            case .refused(let status, let text):
                run.records.withLock { $0.refusals.append(text) }
                return refuse(status, text)
            }
        }
        return .orderly(patience: .zero)
    }

    // MARK: Replies

    private func answer(_ request: ServerRequest) -> Outcome {
        let request = run.records.withLock { $0.add(request, options: run.options) }
        let closes = request.version == "HTTP/1.0" || request.header("Connection")?.lowercased() == "close"
        return perform(run.handler(request).steps(isHead: request.method == "HEAD", closes: closes))
    }

    private func answerEarly(_ head: ServerRequest) -> ServerChannel.End? {
        guard let reply = run.options.onHead?(head) else { return nil }
        switch perform(reply.steps(isHead: head.method == "HEAD", closes: true)) {
        case .ends(.reset): return .reset
        case .ends(.truncated): return .truncated
        case .ends(.orderly), .continues: return .orderly(patience: .seconds(1))
        }
    }

    private func refuse(_ status: Int, _ text: String) -> ServerChannel.End {
        let reply = ServerReply.response(status: status, headers: [("Content-Type", "text/plain")], body: text)
        _ = perform(reply.steps(isHead: false, closes: true))
        return .orderly(patience: .seconds(1))
    }

    // MARK: Steps

    private func perform(_ steps: [ServerStep]) -> Outcome {
        for step in steps {
            if run.isStopped { break }
            switch step {
            case .send(let bytes):
                guard channel.write(bytes) else { return .ends(.orderly(patience: .zero)) }
            case .repeatSend(let bytes, let count):
                guard send(bytes, count: count) else { return .ends(.orderly(patience: .zero)) }
            case .sendWhile(let next):
                while !run.isStopped, let bytes = next() {
                    guard channel.write(bytes) else { return .ends(.orderly(patience: .zero)) }
                }
            case .pause(let duration):
                _ = Wakeup.wait(for: [run.interruption.descriptor], timeout: duration)
            case .receive(let isEnough):
                var received: [UInt8] = []
                while !isEnough(received) {
                    guard let bytes = read() else { return .ends(.orderly(patience: .zero)) }
                    received += bytes
                }
            case .gate(let gate):
                if !gate.isOpen { _ = Wakeup.wait(for: [run.interruption.descriptor, gate.wakeup.descriptor]) }
            case .waitForPeerClose:
                while read() != nil {}
            case .hang:
                _ = Wakeup.wait(for: [run.interruption.descriptor])
            case .close: return .ends(.orderly(patience: .zero))
            case .closeWithoutNotify: return .ends(.truncated)
            case .reset: return .ends(.reset)
            case .keepAlive: return .continues
            }
        }
        return .ends(.orderly(patience: .zero))
    }

    /// Sends `bytes` `count` times, combining small units into larger writes.
    private func send(_ bytes: [UInt8], count: Int) -> Bool {
        guard !bytes.isEmpty, count > 0 else { return true }
        let perBlock = min(count, max(1, 65_536 / bytes.count))
        var block: [UInt8] = []
        block.reserveCapacity(perBlock * bytes.count)
        for _ in 0..<perBlock { block += bytes }
        var left = count
        while left > 0 {
            guard !run.isStopped else { return false }
            let units = min(left, perBlock)
            let sent = units == perBlock ? block : Array(block[..<(units * bytes.count)])
            guard channel.write(sent) else { return false }
            left -= units
        }
        return true
    }

    private func read() -> ArraySlice<UInt8>? {
        guard let bytes = channel.read() else { return nil }
        run.records.withLock { $0.applicationBytes += bytes.count }
        return bytes
    }
}
