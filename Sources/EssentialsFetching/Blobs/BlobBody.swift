import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage
import FoundationEssentials

/// Receives the body of one response: in memory while it is small, and then in a file.
struct BlobBody: ~Copyable {
    /// The size up to which a blob is collected in memory before anything is written.
    static let memoryLimit = 1 << 20

    private let files: BlobFiles
    private let transfer: BlobTransfer
    /// What stores the blob; `nil` if it is not stored.
    private let offer: OfferedChange?
    private var memory = Data()
    private var writer: ResponseFileWriter?
    private var size: Int64 = 0
    /// The announced size; `nil` if it is not known.
    private var announced: Int64?

    init(_ files: BlobFiles, _ transfer: BlobTransfer, _ offer: OfferedChange?) {
        (self.files, self.transfer, self.offer) = (files, transfer, offer)
    }

    /// Reads the whole body.
    ///
    /// - Throws: `tooLarge` if it is larger than the directory, or larger than the maximum of every waiting caller.
    mutating func read(_ response: DataResponse) async throws(RequestFailure) {
        if !response.headerFields.contains(.contentEncoding), let text = response.headerFields[.contentLength],
            let length = Int64(text)
        {
            try check(length)
            announced = length
            if length <= Int64(Self.memoryLimit), length > 0 { memory.reserveCapacity(Int(length)) }
        }
        for try await chunk in response.body {
            size += Int64(chunk.count)
            try check(size)
            if writer == nil, size <= Int64(Self.memoryLimit) {
                chunk.withUnsafeBytes { memory.append(contentsOf: $0) }
                continue
            }
            if writer == nil {
                writer = try await files.begin(offer, with: memory)
                memory = Data()
            }
            guard let writer else { continue }
            try await files.writing { () async throws(FileError) in try await writer.write(chunk) }
        }
    }

    private func check(_ size: Int64) throws(RequestFailure) {
        guard size <= files.largest else { throw BlobContent.tooLarge(nil, files.largest) }
        try transfer.check(size)
    }

    /// Whether a caller can decode the body, or no caller needs to; see ``BlobTransfer/isReadable(size:_:_:)``.
    ///
    /// - Throws: `file` if the body cannot be read again.
    func isReadable(_ type: String?) async throws(RequestFailure) -> Bool {
        let (memory, size, writer, files) = (memory, size, writer, files)
        return try await transfer.isReadable(size: size, type) { () throws(RequestFailure) in
            guard let writer else { return memory }
            let file = try await files.writing { () async throws(FileError) in try await writer.opened() }
            return try await StoredFile(file).bytes(in: 0..<Int(clamping: size))
        }
    }

    /// Stores the body, or keeps it for the waiting callers.
    mutating func finish(_ mediaType: String?, isStored: Bool) async throws(RequestFailure) -> BlobContent {
        let (files, transfer, memory) = (files, transfer, memory)
        // The transport checks the length too, unless it is a test double.
        let isStored = isStored && announced.map { $0 == size } ?? true
        let isWanted = { @Sendable in isStored && transfer.mayUseStore }
        guard let writer = writer.take() else {
            var stored: StoredFile?
            if isStored, let offer {
                // A full disk must not cause the loss of a blob that is in memory.
                let writer = try? await files.begin(offer, with: memory)
                stored = try? await writer?.finish(if: isWanted)
            }
            return BlobContent(bytes: .memory(memory), stored: stored, mediaType: mediaType)
        }
        let file = try await files.writing { () async throws(FileError) in try await writer.finish(if: isWanted) }
        return BlobContent(bytes: .file(file), mediaType: mediaType)
    }

    /// Removes the written bytes.
    mutating func abandon() async {
        let writer = self.writer.take()
        await writer?.abandon()
    }
}
