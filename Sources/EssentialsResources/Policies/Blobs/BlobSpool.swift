import EssentialsHTTP
import FoundationEssentials

/// The temporary file of a blob that is too large to be collected in memory. It runs on a file thread.
actor BlobSpool {
    /// The size up to which a blob is collected in memory before anything is written.
    static let memoryLimit = 1 << 20

    private let queue = FileQueue()
    private let directory: FileDirectory
    /// Its temporary name.
    nonisolated let name: String
    private let file: OpenFile
    private var running = RunningChecksums()
    private var size: Int64 = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(_ directory: FileDirectory, _ name: String, _ file: OpenFile) {
        (self.directory, self.name, self.file) = (directory, name, file)
    }

    func write(_ bytes: Data) throws(RequestFailure) {
        try onFile { () throws(SystemError) in
            try bytes.span.bytes.withUnsafeBytes { bytes throws(SystemError) in try append(bytes) }
        }
    }

    func write(_ chunk: BodyChunk) throws(RequestFailure) {
        try onFile { () throws(SystemError) in
            try chunk.withUnsafeBytes { bytes throws(SystemError) in try append(bytes) }
        }
    }

    private func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        try directory.append(bytes, to: file)
        running.append(bytes)
        size += Int64(bytes.count)
    }

    /// The checksums of what was written.
    var checksums: PieceChecksums { running.finished }

    /// Opens what was written for reading.
    func opened() throws(RequestFailure) -> CheckedFile {
        try onFile { () throws(SystemError) in
            guard let opened = try directory.open(name) else { throw SystemError(code: 2) }
            return CheckedFile(file: opened, size: size, checksums: checksums)
        }
    }

    /// Removes the name of the file, and returns it for reading. It takes space as long as somebody uses it.
    func detach() throws(RequestFailure) -> CheckedFile {
        let file = try opened()
        try onFile { () throws(SystemError) in try directory.remove(name) }
        return file
    }

    /// Removes the file, unless it has another name now.
    func abandon() { try? directory.remove(name) }

    private func onFile<Value>(_ work: () throws(SystemError) -> Value) throws(RequestFailure) -> Value {
        try RequestFailure.onFile(directory.path, "could not be written", phase: .receiving, work)
    }
}
