import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials

/// Receives the body of one response: in memory while it is small, and then in a temporary file.
struct BlobBody: ~Copyable {
    /// The unit in which space is reserved.
    private static let reservationUnit = 1 << 20

    private let store: BlobStore
    private let transfer: BlobTransfer
    /// The maximum size of the directory.
    private let directory: Int64
    private var memory = Data()
    private var spool: BlobSpool?
    private var size: Int64 = 0
    private var reserved = 0

    init(_ store: BlobStore, _ transfer: BlobTransfer, directory: Int64) {
        (self.store, self.transfer, self.directory) = (store, transfer, directory)
    }

    /// Reads the whole body.
    ///
    /// - Throws: `tooLarge` if it is larger than the directory, or than anybody who waits for it wants.
    mutating func read(_ response: DataResponse) async throws(RequestFailure) {
        if !response.headerFields.contains(.contentEncoding), let text = response.headerFields[.contentLength],
            let length = Int64(text)
        {
            try check(length)
            if length <= Int64(BlobSpool.memoryLimit), length > 0 { memory.reserveCapacity(Int(length)) }
        }
        for try await chunk in response.body {
            size += Int64(chunk.count)
            try check(size)
            if spool == nil, size <= Int64(BlobSpool.memoryLimit) {
                chunk.withUnsafeBytes { memory.append(contentsOf: $0) }
                continue
            }
            try await reserve()
            let file: BlobSpool
            if let spool {
                file = spool
            } else {
                file = try await store.makeSpool()
                spool = file
                try await file.write(memory)
                memory = Data()
            }
            try await file.write(chunk)
        }
    }

    private func check(_ size: Int64) throws(RequestFailure) {
        let maximum = min(transfer.maximum, directory)
        guard size <= maximum else { throw BlobContent.tooLarge(nil, maximum) }
    }

    /// Reserves space for what was received so far.
    private mutating func reserve() async throws(RequestFailure) {
        let needed = BlobIndex.space(size)
        guard needed > reserved else { return }
        let unit = min(Self.reservationUnit, Int(directory / 16))
        do throws(RequestFailure) {
            try await store.reserve(needed + unit - reserved)
            reserved = needed + unit
        } catch {
            try await store.reserve(needed - reserved)
            reserved = needed
        }
    }

    /// Whether somebody who wants a value can read the body, or nobody wants one.
    ///
    /// - Throws: `file` if the body cannot be read again.
    func isReadable(_ type: String?) async throws(RequestFailure) -> Bool {
        let (memory, size, spool) = (memory, size, spool)
        return try await transfer.isReadable(size: size, type) { () throws(RequestFailure) in
            guard let spool else { return memory }
            return try await FileReads().bytes(of: try await spool.opened(), in: 0..<Int(clamping: size))
        }
    }

    /// Stores the body, or keeps it for those who wait for it.
    mutating func finish(
        _ entity: StoredEntity, isStored: Bool, _ problems: BlobProblems
    ) async throws(RequestFailure) -> BlobContent {
        let (store, transfer, memory, size, reserved) = (store, transfer, memory, size, reserved)
        guard let spool else {
            var entry: BlobEntry?
            if isStored {
                // A full disk is no reason to lose a blob that is in memory.
                let stored = await problems.noting { () throws(RequestFailure) in
                    try await store.store(memory, entity, for: transfer.key) { !transfer.isRevoked }
                }
                entry = stored ?? nil
            }
            return BlobContent(bytes: .memory(memory), size: size, mediaType: entity.mediaType, entry: entry)
        }
        if isStored, size <= PieceChecksums.maximumSize {
            let checksums = await spool.checksums
            let entry = try await store.store(
                spool, size: size, checksums, entity, for: transfer.key, reservation: reserved
            ) { !transfer.isRevoked }
            if let entry {
                (self.spool, self.reserved) = (nil, 0)
                return entry.content
            }
        }
        let file = try await spool.detach()
        await abandon()
        return BlobContent(bytes: .file(file), size: size, mediaType: entity.mediaType, entry: nil)
    }

    /// Removes what was written.
    mutating func abandon() async {
        let spool = self.spool.take()
        await spool?.abandon()
        if reserved > 0 { await store.release(reserved) }
        reserved = 0
    }
}
