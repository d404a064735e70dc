import EssentialsHTTP

/// Holds every attempt back until the limits of its origin allow it, or refuses it.
///
/// The stage is below the retries and the tokens, so that no request has a permit while it waits for a delay or for a
/// new token. A permit counts until the body of the response was read or dropped.
final class GateStage: Stage {
    let next: RemainingStages

    init(next: RemainingStages) { self.next = next }

    func isUsed(by request: TransportRequest, _ record: ExchangeRecord) -> Bool {
        record.rules.has { $0.limits != nil }
    }

    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        guard let limits = record.rules.hop(request).limits else { return try await next.send(request, record) }
        switch limits.arrive(request.url.origin, request.priority) {
        case .start(let permit): return try await send(request, record, permit, limits)
        case .wait(let place):
            var limited = request
            let permit = try await reportedTurn(of: &limited, place, limits, record)
            return try await send(limited, record, permit, limits)
        case .full(let waiting): throw LimitFailures.queueFull(request, waiting: waiting)
        case .refused(let open): throw LimitFailures.circuitOpen(request, open)
        }
    }

    /// Sends a request that has a permit.
    @inline(__always)
    private func send(
        _ request: TransportRequest, _ record: ExchangeRecord, _ permit: RequestLimits.Permit, _ limits: RequestLimits
    ) async throws(RequestFailure) -> TransportResponse {
        let circuit = record.reporter.isOn ? limits.state(of: request.url.origin).circuit : nil
        defer { if let circuit { tell(limits, request.url.origin, record, ifNot: circuit) } }
        let response: TransportResponse
        do throws(RequestFailure) {
            response = try await next.send(request, record)
        } catch {
            limits.leave(permit, BreakerMachine.Outcome(error))
            throw error
        }
        let outcome = BreakerMachine.Outcome(status: response.statusCode)
        guard case .stream(let source) = response.body.content else {
            limits.leave(permit, outcome)
            return response
        }
        limits.finish(permit, outcome)
        var streamed = response
        streamed.body = ResponseBody(source: PermitBody(source, permit, limits))
        return streamed
    }

    /// Reports the breaker of an origin if it has changed.
    private func tell(
        _ limits: RequestLimits, _ origin: Origin, _ record: ExchangeRecord, ifNot former: CircuitBreaker.State
    ) {
        let state = limits.state(of: origin)
        if state.circuit.name != former.name { record.reporter.tell(.breaker(origin, state)) }
    }

    /// Waits in the line of the origin, and reports for how long.
    private func reportedTurn(
        of request: inout TransportRequest, _ place: RequestLimits.Place, _ limits: RequestLimits,
        _ record: ExchangeRecord
    ) async throws(RequestFailure) -> RequestLimits.Permit {
        let start = ContinuousClock.now
        defer { record.reporter.tell(.waited(.init(reason: .limits, duration: .now - start))) }
        return try await turn(of: &request, place, limits, record)
    }

    /// Waits in the line of the origin. The request then has the rest of its total time.
    private func turn(
        of request: inout TransportRequest, _ place: RequestLimits.Place, _ limits: RequestLimits,
        _ record: ExchangeRecord
    ) async throws(RequestFailure) -> RequestLimits.Permit {
        let between = "its place in the line of its origin and its sending"
        let remaining: Duration?
        do throws(RequestFailure) {
            remaining = try record.deadline.limited(request, between: between, after: "it had to wait").options
                .totalTimeout
        } catch {
            await limits.abandon(place)
            throw error
        }
        let limit = [request.options.queueTimeout, limits.settings.queueTimeout, remaining].compactMap(\.self).min()
        let priority = request.raisablePriority
        let registration = priority?.add { [limits] in limits.raise(place, to: $0) }
        defer { if let registration { priority?.remove(registration) } }
        switch await limits.turn(place, within: limit, record.cancellation) {
        case .start(let permit):
            do throws(RequestFailure) {
                try record.cancellation.check(host: request.hostText)
                request = try record.deadline.limited(request, between: between, after: "it had waited for its turn")
                return permit
            } catch {
                limits.leave(permit, .uncounted, wasSent: false)
                throw error
            }
        case .refused(let open): throw LimitFailures.circuitOpen(request, open)
        case .cancelled: throw LimitFailures.cancelled(request)
        case .expired: throw LimitFailures.timeout(request, after: limit ?? .zero)
        }
    }
}

extension CircuitBreaker.State {
    /// The state, whatever time is left in it.
    var name: String {
        switch self {
        case .closed: "closed"
        case .open: "open"
        case .halfOpen: "half open"
        }
    }
}
