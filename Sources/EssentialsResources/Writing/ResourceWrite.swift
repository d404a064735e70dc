import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials

/// A write of a resource. It waits for its turn, sends the request, and changes the state according to the response.
struct ResourceWrite: Sendable {
    let service: HTTPResourceService
    let core: ResourceCore
    /// The environment, the account and the credentials with which the write began. The write is never sent to other
    /// servers or with other credentials.
    let environment: AdoptedEnvironment
    /// The request without the condition.
    let request: DataRequest
    /// The URL of the resource when the write began.
    let address: ResourceURL
    /// The places of the resource's entity in the caches, for the account and the environment of the write.
    private let places: CachePlaces?
    let options: WriteOptions
    let related: RelatedResources
    /// Whether the request goes to the URL of the resource.
    var isOfResource = true
    /// Whether the caller reads the response itself. A failure of the resource to read it is then not thrown.
    var isReadByCaller = false
    /// The model that the body is encoded from; `nil` if there is none.
    var model: (any Sendable)?
    /// The request as it is sent; `nil` if its body never becomes the content.
    let sent: SentRequest?

    init(
        _ request: DataRequest, of core: ResourceCore, _ service: HTTPResourceService,
        in environment: AdoptedEnvironment, _ options: WriteOptions, _ related: RelatedResources
    ) {
        (self.service, self.core, self.environment) = (service, core, environment)
        (self.options, self.related) = (options, related)
        var request = request
        if options.contains(.returningContent), let prefer = WriteRules.prefer, request.headerFields[prefer] == nil {
            request.headerFields[prefer] = WriteRules.returnsRepresentation
        }
        self.request = request
        address = core.address
        places = service.cachePlaces(of: core, service.effective(for: core), in: environment)
        sent = request.method == .put ? SentRequest() : nil
    }

    /// A response, and the value that was read from it.
    struct Received<Reply: Sendable>: Sendable {
        let reply: Reply
        let value: LoadedValue
    }

    /// Performs the write.
    ///
    /// - Parameters:
    ///   - layer: The change of the content that is shown until the write ends; `nil` if there is none.
    ///   - exchange: Sends a request and reads the response.
    ///   - recovery: Makes a reply from the 404 or 410 response to DELETE, which then counts as a success.
    func perform<Reply: Sendable>(
        _ layer: OptimisticLayer?,
        recovery: @escaping @Sendable (FailedResponse) -> Reply? = { _ in nil },
        exchange: @escaping @Sendable (DataRequest) async throws(RequestFailure) -> Received<Reply>
    ) async throws(RequestFailure) -> Reply {
        try service.checkOpen()
        guard !Task.isCancelled else { throw LoadOutcome.cancelledFailure }
        if let problem = related.problem { throw problem }
        if needsEntityTag, core.strongEntityTag == nil { throw Self.noEntityTag }
        let ticket = try core.beginWrite(layer, options)
        let run = WriteRun<Reply>()
        let number = core.add(request.method) { run.cancel() }
        let outcome = await run.outcome {
            let outcome: WriteRun<Reply>.Outcome
            do throws(RequestFailure) {
                let received = try await exchange(try await conditional(ticket))
                let unread = await end(ticket, with: received.value)
                if let unread, !isReadByCaller {
                    outcome = .failure(unread)
                } else {
                    outcome = .success(received.reply)
                }
            } catch {
                await end(ticket, with: error)
                outcome = recovered(error, recovery)
            }
            core.remove(request: number)
            return outcome
        }
        return try outcome.get()
    }

    /// Waits for the turn of the write, and returns the request with its condition.
    private func conditional(_ ticket: WriteTicket) async throws(RequestFailure) -> DataRequest {
        var turn = ticket.turn
        if let waiting = ticket.waiting {
            guard let begun = await waiting.valueUnlessCancelled() else { throw LoadOutcome.cancelledFailure }
            turn = begun
        }
        // Nothing is sent if the write was cancelled at the same moment.
        guard !Task.isCancelled else { throw LoadOutcome.cancelledFailure }
        try environment.checkCredentials()
        guard !turn.isRevoked else { throw LoadOutcome.cancelledFailure }
        guard needsEntityTag else { return request }
        // A wipe may have removed the content just before the write began.
        guard let entityTag = turn.entityTag else { throw Self.noEntityTag }
        var request = request
        request.headerFields[.ifMatch] = entityTag
        return request
    }

    /// Whether the request gets the entity tag of the content. A condition of the caller takes precedence.
    private var needsEntityTag: Bool { options.contains(.ifUnchanged) && request.headerFields[.ifMatch] == nil }

    private static var noEntityTag: RequestFailure {
        RequestFailure(
            .invalidRequest, "The content has no strong entity tag, so the server cannot see that it is unchanged.",
            remedy: "Load the resource before, or write without `ifUnchanged`.")
    }

    private func recovered<Reply>(
        _ failure: RequestFailure, _ recovery: (FailedResponse) -> Reply?
    ) -> WriteRun<Reply>.Outcome {
        guard isMissing(failure), let response = failure.response, let reply = recovery(response) else {
            return .failure(failure)
        }
        return .success(reply)
    }

    // MARK: Outcomes

    private var rules: WriteRules {
        WriteRules(
            method: request.method, isOfResource: isOfResource,
            asksForContent: options.contains(.returningContent),
            isPartial: request.headerFields[.contentRange] != nil)
    }

    /// Ends the write according to a response.
    ///
    /// - Returns: Why the body of a success cannot be read; `nil` if it was read or does not matter.
    private func end(_ ticket: WriteTicket, with value: LoadedValue) async -> RequestFailure? {
        // A change of the environment during the transfer wipes the resource. Its state then stays as it is.
        service.adoptEnvironment()
        let effect = rules.effect(value.head, hasBody: value.body?.isEmpty == false) {
            isRedirected(value)
        } namesTarget: { reference in
            service.table.base.relative(to: address, reference) == address
        }
        if effect != .failed { removeCachedEntities() }
        switch effect {
        case .representation:
            let entity = value.entity(at: service.clock.date)
            if let refusal = core.commitWrite(ticket.number, value, entity, isFresh: true, isSent: false, service) {
                await endUnread(ticket, value.head)
                return refusal
            }
            invalidateRelated(sparing: core)
            return nil
        case .sent(let isFresh):
            if await commitSent(ticket, confirmedBy: isFresh ? value.head : nil) {
                invalidateRelated(sparing: isFresh ? core : nil)
                return nil
            }
        case .outdated: break
        case .deleted:
            core.deleteContent(ticket.number, service)
            invalidateRelated(sparing: core)
            return nil
        case .failed:
            let failure = RequestFailure(.status, "The server has not carried out the write.")
            core.undoWrite(ticket.number, failure)
            if value.head.status == .preconditionFailed { loadAgain() }
            return nil
        }
        // The fields of other responses may describe another resource, such as one that POST has created.
        let describesResource = isOfResource && request.method == .patch && !isRedirected(value)
        settle(ticket, describesResource ? value.head.headerFields : [:])
        return nil
    }

    /// Ends a write that the server has carried out, but whose response cannot be read. The content is the body that
    /// PUT has sent, or the optimistic change, and it is invalid.
    private func endUnread(_ ticket: WriteTicket, _ head: HTTPResponse) async {
        let effect = rules.effect(head, hasBody: false, isRedirected: { false }, namesTarget: { _ in false })
        if case .sent = effect, await commitSent(ticket, confirmedBy: nil) { return invalidateRelated(sparing: nil) }
        settle(ticket, [:])
    }

    /// Whether a response comes from another URL than the resource's.
    private func isRedirected(_ value: LoadedValue) -> Bool {
        guard let text = value.url?.description, text != address.text else { return false }
        return service.table.base.url(whole: text) != address
    }

    private func end(_ ticket: WriteTicket, with failure: RequestFailure) async {
        service.adoptEnvironment()
        if isMissing(failure) {
            removeCachedEntities()
            core.deleteContent(ticket.number, service)
            return invalidateRelated(sparing: core)
        }
        if Self.isUnreadable(failure) {
            removeCachedEntities()
            return await endUnread(ticket, failure.response?.head ?? HTTPResponse(status: .ok))
        }
        core.undoWrite(ticket.number, failure)
        if failure.status == .preconditionFailed { loadAgain() }
    }

    /// Whether the server has carried out the write, but its response could not be read.
    private static func isUnreadable(_ failure: RequestFailure) -> Bool {
        switch failure.reason {
        case .decoding, .emptyBody, .tooLarge: failure.status.map { $0.kind == .successful } ?? true
        default: false
        }
    }

    private func settle(_ ticket: WriteTicket, _ validators: HTTPFields) {
        core.settleWrite(ticket.number, validators: validators, service)
        invalidateRelated(sparing: nil)
    }

    /// Makes the sent body the content.
    ///
    /// - Parameter confirmation: The response that confirms the content with a validator. If it is `nil`, the content
    ///   is invalid.
    /// - Returns: Whether the views can read the content. If not, nothing has happened.
    private func commitSent(_ ticket: WriteTicket, confirmedBy confirmation: HTTPResponse?) async -> Bool {
        guard let request = sent?.request else { return false }
        let contentType = request.bodyContentType
        let date = service.clock.date
        var value = LoadedValue(contentType: contentType, head: HTTPResponse(status: .ok), codecs: request.codecs)
        if let contentType { value.head.headerFields[.contentType] = contentType }
        func commit(_ value: LoadedValue) -> Bool {
            let entity = value.entity(at: date).revalidated(by: confirmation?.headerFields ?? [:], date: date)
            let isFresh = confirmation != nil
            return core.commitWrite(ticket.number, value, entity, isFresh: isFresh, isSent: true, service) == nil
        }
        let configuration = service.effective(for: core, request.method).values
        // Mutations and decorators may have replaced the body that was encoded from the model.
        if configuration.mutations.isEmpty, configuration.decorators.isEmpty, let model {
            value.value = model
            if commit(value) { return true }
        }
        guard request.headerFields[.contentEncoding] == nil, let body = try? request.bodyBytes(service.codecs) else {
            return false
        }
        value.body = body.bytes
        let pipeline = service.effective(for: core).values.pipeline
        guard !pipeline.isEmpty else { return commit(value) }
        value.value = nil
        guard let piped = try? await pipeline.run(.success(value), service.codecs) else { return false }
        return commit(piped.value)
    }

    /// Whether a failure means that the resource to delete does not exist.
    private func isMissing(_ failure: RequestFailure) -> Bool {
        guard failure.reason == .status, let head = failure.response?.head else { return false }
        return rules.effect(head, hasBody: false, isRedirected: { false }, namesTarget: { _ in false }) == .deleted
    }

    // MARK: Follow-up

    /// Removes the resource's entities from the caches, because they are older than the write. They are those of the
    /// write's account and environment, even if others were entered meanwhile.
    private func removeCachedEntities() {
        places?.removeEntities()
        places?.work()
    }

    private func invalidateRelated(sparing core: ResourceCore?) {
        // After a change of the environment, the same paths belong to resources of another server.
        guard !related.isEmpty, service.adoptEnvironment().snapshot == environment.snapshot,
            let origin = try? service.table.base.requestURL(of: address).origin
        else { return }
        service.invalidate(related, of: origin, except: core)
    }

    /// Starts a load, because another client has changed the resource.
    private func loadAgain() {
        let core = core.current
        guard core.address == address, !service.isClosed, !environment.hasEnded else { return }
        let environment = service.adoptEnvironment()
        var options = LoadOptions(.current, of: core, service, in: environment)
        options.usesCaches = false
        core.beginLoad(options, service, isStarted: true, because: .written).start()
    }
}

/// The task of a write, which can be cancelled before it has started.
final class WriteRun<Reply: Sendable>: Sendable {
    typealias Outcome = Result<Reply, RequestFailure>

    private struct State {
        var task: Task<Outcome, Never>?
        var isCancelled = false
    }

    private let state = Mutex(State())

    /// Does the work in a task, and waits for it. If the calling task is cancelled, so is the work.
    ///
    /// The task begins on the caller's thread and leaves it at its first wait, which saves a thread switch.
    nonisolated(nonsending) func outcome(of work: @escaping @Sendable () async -> Outcome) async -> Outcome {
        let task = Task.immediate { await work() }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}
