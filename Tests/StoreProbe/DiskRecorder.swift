#if Persistence
    import EssentialsTools
    import GRDBSQLite
    import Glibc

    /// Records what SQLite writes to the files of a store, in order, so that a test can tell what a loss of power may leave.
    ///
    /// A record begins with 18 bytes: its kind, the number of the file, an offset and a length. The bytes of a write follow.
    enum DiskRecorder {
        enum Kind: UInt8 {
            case write, truncate, sync, delete
            /// A save was confirmed. The offset is its step.
            case confirm
        }

        private struct State {
            var output: Int32 = -1
            var paths: [String] = []
            /// The open files, with their numbers and SQLite's own functions.
            var files: [OpaquePointer?: (number: UInt8, methods: UnsafePointer<sqlite3_io_methods>)] = [:]
            /// The functions that record, by those that they replace: a database has other ones than its log. They live as
            /// long as the process.
            var recording: [UnsafePointer<sqlite3_io_methods>: UnsafePointer<sqlite3_io_methods>] = [:]

            func add(_ kind: Kind, _ file: UInt8, _ offset: Int64 = 0, _ bytes: UnsafeRawBufferPointer? = nil) {
                var header = [kind.rawValue, file]
                for number in [offset, Int64(bytes?.count ?? 0)] {
                    withUnsafeBytes(of: number.littleEndian) { header += $0 }
                }
                _ = Glibc.write(output, header, header.count)
                if let bytes { _ = Glibc.write(output, bytes.baseAddress, bytes.count) }
            }
        }

        private static let lock = Mutex(())
        /// Used under the lock.
        nonisolated(unsafe) private static var state = State()
        /// SQLite's own file system. It is set once, before a store is opened, and only read afterwards.
        nonisolated(unsafe) private static var system: UnsafeMutablePointer<sqlite3_vfs>?

        /// Records from now on all stores at a path into a file.
        static func start(_ path: String, into output: String) {
            locked { state in
                state.output = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
                state.paths = [path, path + "-wal", path + "-journal"]
            }
            guard let found = sqlite3_vfs_find(nil) else { return say("failed vfs") }
            system = found
            let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
            own.initialize(to: found.pointee)
            own.pointee.zName = UnsafePointer(strdup("recording"))
            own.pointee.pNext = nil
            own.pointee.xOpen = { _, name, file, flags, flagsOut in
                guard let system = DiskRecorder.system else { return SQLITE_ERROR }
                let code = system.pointee.xOpen(system, name, file, flags, flagsOut)
                if code == SQLITE_OK, let name, let file { DiskRecorder.record(file, String(cString: name)) }
                return code
            }
            own.pointee.xDelete = { _, name, isSynchronized in
                guard let system = DiskRecorder.system, let name else { return SQLITE_ERROR }
                let path = String(cString: name)
                return DiskRecorder.locked { state in
                    let code = system.pointee.xDelete(system, name, isSynchronized)
                    if code == SQLITE_OK, let file = state.paths.firstIndex(of: path) {
                        state.add(.delete, UInt8(file))
                    }
                    return code
                }
            }
            sqlite3_vfs_register(own, 1)
        }

        static func confirm(_ step: Int) { locked { $0.add(.confirm, 0, Int64(step)) } }

        private static func locked<Value>(_ body: (inout State) -> Value) -> Value {
            lock.withLock { _ in
                // The pointers of SQLite that the body uses are those of the calling thread.
                nonisolated(unsafe) let value = body(&state)
                return value
            }
        }

        /// Gives an open file functions that record, in place of its own.
        private static func record(_ file: UnsafeMutablePointer<sqlite3_file>, _ path: String) {
            locked { state in
                guard let number = state.paths.firstIndex(of: path), let own = file.pointee.pMethods else { return }
                let recording = state.recording[own] ?? replacement(of: own)
                state.recording[own] = recording
                state.files[OpaquePointer(file)] = (UInt8(number), own)
                file.pointee.pMethods = recording
            }
        }

        private static func replacement(
            of own: UnsafePointer<sqlite3_io_methods>
        ) -> UnsafePointer<sqlite3_io_methods> {
            let recording = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            recording.initialize(to: own.pointee)
            recording.pointee.xWrite = { file, bytes, count, offset in
                DiskRecorder.perform(file) { methods, state, number in
                    state.add(.write, number, offset, UnsafeRawBufferPointer(start: bytes, count: Int(count)))
                    return methods.xWrite(file, bytes, count, offset)
                }
            }
            recording.pointee.xTruncate = { file, size in
                DiskRecorder.perform(file) { methods, state, number in
                    state.add(.truncate, number, size)
                    return methods.xTruncate(file, size)
                }
            }
            recording.pointee.xSync = { file, flags in
                DiskRecorder.perform(file) { methods, state, number in
                    state.add(.sync, number)
                    return methods.xSync(file, flags)
                }
            }
            recording.pointee.xClose = { file in
                DiskRecorder.perform(file) { methods, state, _ in
                    state.files[file.map { OpaquePointer($0) }] = nil
                    return methods.xClose(file)
                }
            }
            return UnsafePointer(recording)
        }

        /// Works with a recorded file, one call at a time, so that the records have the order of the calls.
        private static func perform(
            _ file: UnsafeMutablePointer<sqlite3_file>?,
            _ body: (sqlite3_io_methods, inout State, UInt8) -> Int32
        ) -> Int32 {
            locked { state in
                guard let (number, methods) = state.files[file.map { OpaquePointer($0) }] else { return SQLITE_IOERR }
                return body(methods.pointee, &state, number)
            }
        }
    }
#endif
