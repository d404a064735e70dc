import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials

/// Loads a blob: a streamed GET through the response cache of the directory.
struct BlobReceiver: Sendable {
    let files: BlobFiles
    let access: ForeignAccess
    let configuration: BlobService.Configuration
    let doubts = BlobDoubts()

    /// Does the work of a transfer.
    func content(for transfer: BlobTransfer) async throws(RequestFailure) -> BlobContent {
        let isDoubted = doubts.take(transfer.key)
        var isSettled = !isDoubted
        defer { if !isSettled { doubts.add(transfer.key) } }
        var request = try request(for: transfer)
        // The stored blob is validated, however fresh it is.
        if isDoubted { request.headerFields[.cacheControl] = "no-cache" }
        var isReceiving = false
        do throws(RequestFailure) {
            let response = try await access.send(request, to: transfer.address.place)
            isReceiving = true
            if let stored = Self.stored(response) {
                isSettled = true
                return stored
            }
            let (content, isReadable) = try await receive(response, to: request, transfer)
            isSettled = isSettled || isReadable
            return content
        } catch {
            // The cache has no part in what fails after the head, and serves nothing instead of a validation.
            guard isReceiving || isDoubted, error.isOutage, let stored = await stale(for: transfer) else { throw error }
            return stored
        }
    }

    private static func stored(_ response: DataResponse) -> BlobContent? {
        response.storedFile.map { BlobContent(bytes: .file($0), mediaType: response.headerFields[.contentType]) }
    }

    /// The stored blob, if it may be used although its server cannot be reached.
    private func stale(for transfer: BlobTransfer) async -> BlobContent? {
        guard configuration.servesStale, transfer.mayUseStore, var request = try? request(for: transfer),
            request.settings.cachePolicy == .standard, !request.headerFields.contains(.cacheControl)
        else { return nil }
        request.headerFields[.cacheControl] = "only-if-cached, max-stale"
        let response = try? await access.send(request, to: transfer.address.place)
        return response.flatMap(Self.stored)
    }

    // MARK: The request

    private func request(for transfer: BlobTransfer) throws(RequestFailure) -> DataRequest {
        if let failure = transfer.address.failure { throw failure }
        let url = try transfer.url
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
        request.boundContent = BoundContent(transfer.place.binding, at: url, variant: transfer.variant)
        request.settings.cachePolicy = transfer.mayUseStore ? request.settings.cachePolicy ?? .standard : .bypass
        return request.bound(to: transfer.operation).requesting(.bytes)
    }

    // MARK: The response

    /// - Returns: The content, and whether it is the blob. If it is not, the stored blob stays.
    private func receive(
        _ response: DataResponse, to request: DataRequest, _ transfer: BlobTransfer
    ) async throws(RequestFailure) -> (content: BlobContent, isReadable: Bool) {
        let type = response.headerFields[.contentType]
        let isStored = response.offer.map { $0.stores && mayStore(response, $0, to: request, transfer) } ?? false
        var body = BlobBody(files, transfer, isStored ? response.offer : nil)
        do throws(RequestFailure) {
            try await body.read(response)
            let isReadable = try await body.isReadable(type)
            let content = try await body.finish(type, isStored: isStored && isReadable)
            // The stored blob is outdated now.
            if isReadable, !content.isStored { await response.offer?.supersede() }
            return (content, isReadable)
        } catch {
            await body.abandon()
            throw error
        }
    }

    /// Whether a response may be stored: what can be for one account is stored for an account only.
    private func mayStore(
        _ response: DataResponse, _ offer: OfferedChange, to request: DataRequest, _ transfer: BlobTransfer
    ) -> Bool {
        if !transfer.place.account.isShared { return true }
        return transfer.place.identity.snapshot.trust?.identity == nil && !offer.isPersonal
            && !EntityCacheRules.hasSecrets(query: response.url?.query)
            && !response.redirects.contains { EntityCacheRules.hasSecrets(query: $0.from.query) }
            && !EntityCacheRules.isPersonal(response, to: request)
    }
}
