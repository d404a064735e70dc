import CEssentials
import EssentialsTransport

// Failures that the engine decides by itself.
extension Failures {
    /// Adds the progress of the request to the failure.
    static func adding(_ exchange: Exchange, to failure: RequestFailure) -> RequestFailure {
        guard failure.transmission == nil else { return failure }
        let (transfer, machine) = (exchange.transfer, exchange.machine)
        let sendings = machine.earlierSendings + Int(transfer.map { ce_transfer_send_count($0) } ?? 0)
        let refusals = machine.earlierRefusals + Int(transfer.map { ce_transfer_refused_count($0) } ?? 0)
        return failure.changed {
            $0.transmission = sendings == 0 ? .unsent : sendings == refusals ? .refused : .sent
        }
    }

    static func cancelled(_ exchange: Exchange, byShutdown: Bool = false) -> RequestFailure {
        let phase: RequestFailure.Phase = exchange.transfer.map { Self.phase(of: exchange.prepared, $0) } ?? .queue
        return RequestFailure(
            .cancelled,
            byShutdown ? "The transport was shut down before the request finished." : "The request was cancelled.",
            phase: phase, host: exchange.prepared.origin.host.text)
    }

    static func closed(_ prepared: PreparedRequest) -> RequestFailure {
        RequestFailure(.closed, "The transport was shut down.", phase: .queue, host: prepared.origin.host.text)
    }

    static func forked(_ prepared: PreparedRequest) -> RequestFailure {
        RequestFailure(
            .closed, "The transport belongs to the parent of this forked process.",
            remedy: ProcessGeneration.hasLostTasks ? forkRemedy : "Create a transport in this process.",
            host: prepared.origin.host.text)
    }

    /// The failure in a forked process in which no task can run, so that no transport can work.
    static var lostTasks: RequestFailure {
        RequestFailure(
            .closed, "This process was forked from one in which Swift tasks ran, so no task can run here.",
            remedy: forkRemedy)
    }

    private static let forkRemedy = "Call exec(2) in the child, or fork before the first request."

    static func queueFull(_ prepared: PreparedRequest, waiting: Int) -> RequestFailure {
        RequestFailure(
            .queueFull, "The queue of requests for connections is full, with \(waiting) waiting.",
            remedy: "Send fewer requests at once, or raise connectionsPerOrigin, requestsInFlight or queueLimit.",
            phase: .queue, host: prepared.origin.host.text)
    }

    /// A deadline has passed while the request waited for a connection.
    static func waitedTooLong(_ prepared: PreparedRequest, since waited: Int64, queue: Int) -> RequestFailure {
        RequestFailure(
            .timeout,
            "No connection to \(prepared.origin) became free within \(Duration.milliseconds(waited)); "
                + "\(queue) requests are waiting.",
            remedy: "Send fewer requests at once, raise connectionsPerOrigin, or look for responses that nobody reads.",
            phase: .queue, host: prepared.origin.host.text)
    }

    /// A deadline has passed while the request ran.
    static func overdue(
        _ kind: Deadlines.Kind, _ prepared: PreparedRequest, _ transfer: OpaquePointer
    ) -> RequestFailure {
        let (options, origin) = (prepared.request.options, prepared.origin)
        let message =
            switch kind {
            case .total:
                "The exchange with \(origin) did not finish within \(options.totalTimeout ?? .zero)."
            case .connect: "No connection to \(origin) was established within \(options.connectTimeout)."
            case .queue: "No connection to \(origin) became free within \(options.queueTimeout ?? .zero)."
            case .firstByte: "\(origin) did not begin its response within \(options.firstByteTimeout ?? .zero)."
            case .idle: "Nothing was sent to or received from \(origin) for \(options.idleTimeout ?? .zero)."
            }
        return RequestFailure(
            .timeout, message, phase: phase(of: prepared, transfer), host: origin.host.text)
    }

    /// The source of a request's body has thrown an error. If it is a failure, such as that of a file, it is passed on
    /// unchanged.
    static func source(_ error: any Error, _ prepared: PreparedRequest) -> RequestFailure {
        if let failure = error as? RequestFailure { return failure }
        return RequestFailure(
            .encoding, "The source of the request's body failed.", remedy: "See the underlying error.",
            phase: .sending, host: prepared.origin.host.text, underlying: error)
    }

    /// The thread's epoll has failed.
    static func loop(_ code: Int32, _ prepared: PreparedRequest) -> RequestFailure {
        RequestFailure(
            .connection, "Waiting for the network failed (errno \(code)).", remedy: "Create a new transport.",
            phase: .waiting, host: prepared.origin.host.text)
    }
}
