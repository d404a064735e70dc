#if Persistence
    import EssentialsPersistence
    import EssentialsStorage
    import Glibc
    import GRDB

    /// A store whose file or folder this process cannot write.
    ///
    /// It can be read, even while another process owns it. It needs no claim, because it changes nothing.
    enum ReadOnlyStore {
        /// Whether the path has a store that can only be read.
        static func isThere(_ path: String) -> Bool {
            access(path, F_OK) == 0 && (isRefused(path) || isRefused(StorePath.parts(of: path).folder))
        }

        private static func isRefused(_ path: String) -> Bool {
            access(path, W_OK) != 0 && [EACCES, EPERM, EROFS].contains(errno)
        }

        /// The way to open a store: the name for SQLite, and a file that is kept open with it.
        struct Opening {
            let name: String
            var claim: OpenFile?

            /// The failure of opening the file, which names the files beside it that this user must be able to read.
            func failure(_ failure: PersistenceFailure, path: String) -> PersistenceFailure {
                let hidden = ["-owner", "-wal", "-shm"].map { path + $0 }.filter { file in
                    access(file, R_OK) != 0 && errno == EACCES
                }
                guard failure.underlying is DatabaseError, !hidden.isEmpty else { return failure }
                return PersistenceFailure(
                    .file,
                    "The store can only be read by this user, who must also be able to read \(hidden.joined(separator: ", ")).",
                    remedy: "Give this user the right to read these files, or open the store as its owner.",
                    store: path,
                    underlying: failure.underlying)
            }
        }

        /// Decides how a store is opened.
        ///
        /// SQLite needs two writable files beside the store, unless the file is declared immutable. It is immutable if
        /// it has no owner, the log is empty, and there is no journal of an interrupted change. The lock that is held
        /// then excludes an owner with more rights.
        static func opening(_ path: String) -> Opening {
            let plain = Opening(name: path)
            guard FileState(path + "-wal").bytes == 0, FileState(path + "-journal").bytes == 0 else { return plain }
            let claim: OpenFile?
            do throws(FileError) { claim = try OpenFile(path + "-owner", O_RDONLY | O_NOFOLLOW) } catch {
                // An owner may exist whose file is hidden from this process.
                guard error.isMissing else { return plain }
                claim = try? OpenFile(path + "-owner", O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
            }
            if let claim, (try? claim.lock(isShared: true, withoutLocks: false)) != true { return plain }
            return Opening(name: uri(path), claim: claim)
        }

        /// The path as a URI of SQLite with a parameter. All bytes except plain ones are escaped.
        static func uri(_ path: String, _ parameter: String = "immutable=1") -> String {
            let digits = Array("0123456789ABCDEF")
            var text = path.hasPrefix("/") ? "file:" : "file:./"
            for byte in path.utf8 {
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                    UInt8(ascii: "_"):
                    text.unicodeScalars.append(Unicode.Scalar(byte))
                default:
                    text += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
                }
            }
            return "\(text)?\(parameter)"
        }
    }
#endif
