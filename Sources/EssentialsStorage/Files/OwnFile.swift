import EssentialsTools

/// Opens files that the program has created for itself: locks, tokens, cookies, entries and partial files. Other users
/// may have put different files in their place.
///
/// A symbolic link is never followed. The file must be a regular file of the user of the process. All checks are made
/// on the open file, so that it cannot be exchanged between check and use. The flags must not contain `O_TRUNC`,
/// because the file would be emptied before it is checked.
///
/// All calls can block, so they belong on a file thread.
package enum OwnFile {
    /// Additional requirements.
    package struct Rules: OptionSet, Sendable {
        /// The file has no second name (hard link), because writing would change the file under that name too.
        package static let oneName = Rules(rawValue: 1)
        /// No other user can write to the file.
        package static let noOtherWriters = Rules(rawValue: 2)
        /// No other user can read the file or write to it.
        package static let noOtherUsers = Rules(rawValue: 4)
        /// The file may belong to another user. The caller checks the owner.
        package static let anyOwner = Rules(rawValue: 8)

        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    /// Why a file was not opened.
    package enum Refusal: Error, Sendable, Hashable {
        /// A system call failed. The code is `ELOOP` for a symbolic link.
        case system(FileError)
        case notRegular
        case otherOwner
        case otherNames(count: UInt64)
        case otherUsers
        case tooLarge

        /// The failure for callers that handle only system errors. A file that does not belong to the program becomes a
        /// permission error.
        package var fileError: FileError {
            if case .system(let error) = self { error } else { FileError(code: EPERM) }
        }

        /// Whether no file has the name.
        package var isMissing: Bool { self == .system(FileError(code: ENOENT)) }

        /// Whether the file exists but does not belong to the program.
        package var isOfOthers: Bool {
            if case .system(let error) = self { error.code == ELOOP } else { true }
        }
    }

    /// Opens a file. A new file is for this user only (mode 0600).
    ///
    /// - Parameters:
    ///   - flags: The flags in addition to `O_NOFOLLOW` and those of ``OpenFile``.
    ///   - maximumSize: The maximum size in bytes.
    package static func open(
        _ path: String, _ flags: Int32, _ rules: Rules, upTo maximumSize: Int64 = .max, mode: UInt16 = 0o600
    ) throws(Refusal) -> (file: OpenFile, status: FileStatus) {
        let file: OpenFile
        let status: FileStatus
        do throws(FileError) {
            file = try OpenFile(path, flags | O_NOFOLLOW, mode: mode)
            status = try file.status()
        } catch {
            throw .system(error)
        }
        try check(status, rules, upTo: maximumSize)
        return (file, status)
    }

    /// Checks the status of an open file.
    package static func check(
        _ status: FileStatus, _ rules: Rules, upTo maximumSize: Int64 = .max
    ) throws(Refusal) {
        guard status.isRegular else { throw .notRegular }
        guard status.owner == geteuid() || rules.contains(.anyOwner) else { throw .otherOwner }
        // A removed file has no name at all.
        if rules.contains(.oneName), status.linkCount > 1 { throw .otherNames(count: status.linkCount) }
        if rules.contains(.noOtherUsers), status.permissions & 0o077 != 0 { throw .otherUsers }
        if rules.contains(.noOtherWriters), status.permissions & 0o022 != 0 { throw .otherUsers }
        guard status.size <= maximumSize else { throw .tooLarge }
    }
}
