import EssentialsHTTP
import FoundationEssentials

/// The ``RemovalNotes`` of a directory, and whether they are written down there. It runs on a file thread.
struct RemovalNoteFile: Sendable {
    private let directory: FileDirectory
    /// What is named.
    private(set) var notes = RemovalNotes()
    /// Whether the file names what ``notes`` does.
    private(set) var isWritten = true
    /// The file as it was read or written last, so that what another process names is seen.
    private var status: FileStatus?

    init(_ directory: FileDirectory) { self.directory = directory }

    /// Reads the file if another process has changed it.
    mutating func refresh() {
        let present = directory.status(of: RemovalNotes.fileName)
        guard present != status else { return }
        // Without the file what other processes have named is removed.
        if isWritten { notes = RemovalNotes() }
        if present != nil { notes.formUnion(read()) }
        status = present
    }

    private func read() -> RemovalNotes {
        switch try? directory.read(RemovalNotes.fileName, upTo: RemovalNotes.maximumSize) {
        case .bytes(let bytes): RemovalNotes(bytes: bytes)
        case .missing: RemovalNotes()
        case .unfit, nil: RemovalNotes(bytes: [])
        }
    }

    /// Changes what is named, and writes it down. No other process writes between the reading and the writing.
    mutating func change(_ change: (inout RemovalNotes) -> Void) {
        let (known, directory) = (notes, directory)
        do throws(SystemError) {
            try directory.locked { () throws(SystemError) -> Void in
                refresh()
                let before = notes
                change(&notes)
                guard notes != before || !isWritten else { return }
                try write()
                isWritten = true
                status = directory.status(of: RemovalNotes.fileName)
            }
        } catch {
            // Without the lock nothing was read, and nothing is written. The next change tries it again.
            if notes == known { change(&notes) }
            isWritten = false
        }
    }

    private func write() throws(SystemError) {
        guard !notes.isEmpty else { return try directory.remove(RemovalNotes.fileName) }
        try directory.write(notes.bytes, Data(), to: RemovalNotes.fileName, temporary: EntityFile.temporaryName())
    }
}
