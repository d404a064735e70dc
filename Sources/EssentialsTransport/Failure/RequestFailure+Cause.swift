extension RequestFailure {
    /// The cause of a failure, as far as it decides what happens next: whether the request is sent again, whether a
    /// stale response is used, and whether the failure counts against the server.
    ///
    /// This is the only place that maps reasons to such decisions. Other code uses the properties below, so that a new
    /// reason is handled everywhere.
    package enum Cause: Sendable, Hashable, CaseIterable {
        /// The network did not carry the request to the server, or the response back.
        case network
        /// The proxy could not be reached.
        case unreachableProxy
        /// The request waited too long for a connection of this program.
        case queueTime
        /// This program lacks a place in a queue, a descriptor or memory at the moment.
        case capacity
        /// The circuit of the origin is open, because earlier requests have failed.
        case openCircuit
        /// There is no access token for the time being. The provider is called again.
        case missingToken
        /// The server has responded with a status that is no success.
        case status
        /// The program has ended the request or its service.
        case ended
        /// A decision of this program, of a policy or of a peer. It would be the same again, unless the failure is
        /// temporary.
        case decision
    }

    /// The cause of this failure.
    package var cause: Cause {
        switch reason {
        case .nameResolution, .connection, .interrupted: .network
        // A proxy that has responded would refuse the next request too, and may lock the account.
        case .proxy: phase == .nameResolution || phase == .connect ? .unreachableProxy : .decision
        case .timeout: phase == .queue ? .queueTime : .network
        case .queueFull, .resources: .capacity
        case .circuitOpen: .openCircuit
        case .authorization: isTemporary ? .missingToken : .decision
        case .status: .status
        case .cancelled, .closed: .ended
        default: .decision
        }
    }

    // MARK: Questions

    /// Whether another attempt of the same request may end differently. It would make a lack of capacity in this
    /// program worse.
    package var isWorthAnotherAttempt: Bool {
        switch cause {
        case .network, .unreachableProxy: true
        case .queueTime, .capacity, .openCircuit, .missingToken, .status, .ended, .decision: false
        }
    }

    /// Whether the failure is evidence that the server is out of order. A failure to reach a proxy, or a failure in
    /// this program, is not.
    package var countsAgainstServer: Bool { cause == .network }

    /// Whether the network failed to carry the request, or the one for its access token, or whether there was no
    /// connection for it in time. The request may succeed when the network has changed.
    package var isOfNetwork: Bool {
        switch decisive.cause {
        case .network, .unreachableProxy, .queueTime: true
        case .capacity, .openCircuit, .missingToken, .status, .ended, .decision: false
        }
    }

    /// Whether the server, or the one that issues the access tokens, could not be reached or has failed, so that a stale
    /// response may take the place of a new one ([RFC 5861, 4](https://www.rfc-editor.org/rfc/rfc5861#section-4)).
    package var isOutage: Bool {
        guard !isOfNetwork else { return true }
        guard cause == .status || cause == .missingToken else { return false }
        return [500, 502, 503, 504].contains(decisive.status?.code)
    }

    /// Whether a later request may succeed without a change, so that a stream connects again after a pause.
    package var mayPass: Bool {
        switch cause {
        case .network, .unreachableProxy, .queueTime, .capacity, .openCircuit, .missingToken: true
        case .status: status.map { $0.code == 429 || $0.code >= 500 } ?? false
        case .ended, .decision: isTemporary
        }
    }

    /// Whether the cause is in this program: it lacks something at the moment, such as a token, or it has ended the
    /// request. The request can wait and be sent later.
    package var isOfThisProgram: Bool {
        switch cause {
        case .queueTime, .capacity, .openCircuit, .missingToken, .ended: true
        case .network, .unreachableProxy, .status, .decision: false
        }
    }
}
