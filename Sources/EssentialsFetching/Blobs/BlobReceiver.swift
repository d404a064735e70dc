import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials

/// Loads a blob: from the directory if it is fresh there, and otherwise from its server.
struct BlobReceiver: Sendable {
    let store: BlobStore
    let access: ForeignAccess
    let configuration: BlobService.Configuration
    let problems: BlobProblems

    /// Does the work of a transfer.
    func content(for transfer: BlobTransfer) async throws(RequestFailure) -> BlobContent {
        var stored: (entry: BlobEntry, bytes: Data?)?
        if transfer.mayUseStore {
            stored = await problems.noting { () throws(RequestFailure) in try await store.load(transfer.key) } ?? nil
        }
        let isDoubted = store.open.takeDoubt(of: transfer.name)
        if let stored, stored.entry.isFresh(at: configuration.clock.now), !isDoubted {
            return Self.content(stored)
        }
        let response: DataResponse
        let request = try request(for: transfer, condition: stored?.entry.condition)
        do throws(RequestFailure) {
            response = try await access.send(request, to: transfer.address.place)
            if response.status.code == 304, let stored { return await confirm(stored, by: response, transfer) }
            let (content, isReadable) = try await receive(response, to: request, transfer)
            if isDoubted, !isReadable { store.open.doubt(transfer.name) }
            return content
        } catch {
            if BlobRules.isGone(error) { await removeStored(transfer) }
            guard let stored, configuration.servesStale, error.isOutage,
                BlobRules.allowsStale(stored.entry.entity.headerFields)
            else { throw error }
            return Self.content(stored)
        }
    }

    private static func content(_ stored: (entry: BlobEntry, bytes: Data?)) -> BlobContent {
        var content = stored.entry.content
        if let bytes = stored.bytes { content.bytes = .memory(bytes) }
        return content
    }

    private func removeStored(_ transfer: BlobTransfer) async {
        guard !transfer.isRevoked else { return }
        await problems.noting { () throws(RequestFailure) in try await store.remove(transfer.key) }
    }

    // MARK: The request

    private func request(
        for transfer: BlobTransfer, condition: (name: HTTPField.Name, value: String)?
    ) throws(RequestFailure) -> DataRequest {
        if let failure = transfer.address.failure { throw failure }
        let url = try transfer.place.base.requestURL(of: transfer.address)
        var request = transfer.template ?? DataRequest(.get, "")
        var snapshot = transfer.place.identity.snapshot
        switch transfer.address.place {
        case .below: request = request.pinned(to: snapshot, at: url)
        case .sameOrigin:
            // The request has the header fields with which its key was made, even if the environment has changed since.
            snapshot.baseURL = url
            request.base = RequestBase(snapshot)
        case .otherOrigin, .unusable: request.base = RequestBase(url)
        }
        if transfer.address.place != .below { request.path = "" }
        // A partial response (206) that was not requested is not the blob.
        request.expectedStatus = [200...205, 207...299]
        request.options.delivery = .streamed
        // The priority is that of the most urgent caller.
        request.options.priority = .background
        request.raisablePriority = transfer.priority
        request.settings.joins = false
        // A response cache would store the same bytes, and freshness is decided here.
        request.settings.cachePolicy = .bypass
        if let condition {
            request.headerFields[condition.name] = condition.value
            request.expectedStatus = request.expectedStatus.union([304...304])
        }
        return request.bound(to: transfer.operation).requesting(.bytes)
    }

    // MARK: The response

    private func confirm(
        _ stored: (entry: BlobEntry, bytes: Data?), by response: DataResponse, _ transfer: BlobTransfer
    ) async -> BlobContent {
        var fields = EntityCacheRules.kept(response.headerFields)
        for name in HTTPFields.ofBody { fields[name] = nil }
        let confirmation = EntityConfirmation(
            headerFields: fields, date: configuration.clock.date, age: Self.age(of: response))
        let renewed = await problems.noting { () throws(RequestFailure) in
            try await store.renew(stored.entry, by: confirmation) { !transfer.isRevoked }
        }
        return Self.content((renewed ?? stored.entry, stored.bytes))
    }

    private static func age(of response: DataResponse) -> Duration {
        (response.storedUse ?? StoredResponseUse(of: response.headerFields)).age
    }

    /// - Returns: The content, and whether it is the blob. If it is not, the stored blob stays.
    private func receive(
        _ response: DataResponse, to request: DataRequest, _ transfer: BlobTransfer
    ) async throws(RequestFailure) -> (content: BlobContent, isReadable: Bool) {
        let entity = StoredEntity(
            body: Data(), mediaType: response.headerFields[.contentType], status: response.status.code,
            headerFields: EntityCacheRules.kept(response.headerFields), date: configuration.clock.date,
            age: Self.age(of: response))
        let isPersonal =
            transfer.place.identity.snapshot.trust?.identity != nil
            || EntityCacheRules.hasSecrets(query: transfer.address.query)
            || EntityCacheRules.isPersonal(response, to: request)
        let isStored = BlobRules.allowsStoring(
            response.status.code, response.headerFields, isPersonal: isPersonal,
            partition: transfer.place.account, allowsSensitive: configuration.storesSensitiveResponses)
        var body = BlobBody(store, transfer, directory: Int64(configuration.maximumBytes))
        do throws(RequestFailure) {
            try await body.read(response)
            let isReadable = try await body.isReadable(entity.mediaType)
            let content = try await body.finish(
                entity, isStored: isStored && isReadable && !transfer.isRevoked, problems)
            // The stored blob is outdated now.
            if !isStored, isReadable { await removeStored(transfer) }
            return (content, isReadable)
        } catch {
            await body.abandon()
            throw error
        }
    }
}

extension BlobEntry {
    /// The header field that makes the request conditional; `nil` without a validator.
    fileprivate var condition: (name: HTTPField.Name, value: String)? {
        entity.headerFields.condition
    }
}

/// Counts failures of the directory that callers do not receive.
final class BlobProblems: Sendable {
    private let state = Mutex(CacheProblems())

    var value: CacheProblems { state.withLock { $0 } }

    /// Runs work on the directory, and counts its failure.
    @discardableResult
    func noting<Value: Sendable>(
        _ work: () async throws(RequestFailure) -> Value
    ) async -> Value? {
        do throws(RequestFailure) { return try await work() } catch {
            note(error)
            return nil
        }
    }

    func note(_ failure: RequestFailure) {
        state.withLock { problems in
            problems.count += 1
            problems.last = "\(failure)"
        }
    }
}
