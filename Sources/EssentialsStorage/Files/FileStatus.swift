import EssentialsTools

/// The status of a file.
package struct FileStatus: Sendable, Hashable {
    /// Identifies a file independently of its name.
    package struct Identity: Sendable, Hashable {
        let device: UInt64
        /// The number of the file on its device.
        package let number: UInt64
    }

    /// The time of the last change of the content.
    package struct Moment: Sendable, Hashable {
        package let seconds: Int64
        package let nanoseconds: Int64

        /// Whether the moment is earlier than another one.
        package func isBefore(_ other: Moment) -> Bool {
            (seconds, nanoseconds) < (other.seconds, other.nanoseconds)
        }
    }

    package let identity: Identity
    package let size: Int64
    package let modified: Moment
    package let owner: UInt32
    /// The number of hard links.
    package let linkCount: UInt64
    /// The permissions, as for chmod(2).
    package let permissions: UInt16
    private let kind: mode_t

    package var isRegular: Bool { kind == S_IFREG }
    package var isDirectory: Bool { kind == S_IFDIR }
    package var isLink: Bool { kind == S_IFLNK }
    package var isSocket: Bool { kind == S_IFSOCK }

    /// Reads the status of the file at a path, following a symbolic link or not.
    package init(of path: String, followsLink: Bool = true) throws(FileError) {
        var facts = stat()
        let code = followsLink ? stat(path, &facts) : lstat(path, &facts)
        guard code == 0 else { throw FileError.last }
        self.init(facts)
    }

    package init(ofOpen descriptor: Int32) throws(FileError) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw FileError.last }
        self.init(facts)
    }

    private init(_ facts: stat) {
        identity = Identity(
            device: UInt64(truncatingIfNeeded: facts.st_dev), number: UInt64(truncatingIfNeeded: facts.st_ino))
        size = Int64(facts.st_size)
        #if canImport(Darwin)
            let time = facts.st_mtimespec
        #else
            let time = facts.st_mtim
        #endif
        modified = Moment(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
        owner = facts.st_uid
        linkCount = UInt64(truncatingIfNeeded: facts.st_nlink)
        permissions = UInt16(truncatingIfNeeded: facts.st_mode & 0o7777)
        kind = facts.st_mode & S_IFMT
    }
}
