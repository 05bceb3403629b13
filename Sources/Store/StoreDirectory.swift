import Glibc

/// The directory a store lives in: made private, files made private, opened by one process at a time.
struct StoreDirectory {
    static let fileName = "understudy.db"
    static let directoryMode: mode_t = 0o700
    static let fileMode: mode_t = 0o600

    let path: String

    var databasePath: String { path + "/" + Self.fileName }

    /// Makes what is missing, with modes for the owner only, and takes group and world rights from the files.
    ///
    /// A directory that exists keeps its mode: it may be shared on purpose. The files in it are never shared.
    func prepare() throws(StoreError) {
        try makeDirectories()
        try makeDatabaseFile()
        for suffix in ["-wal", "-shm"] {
            try tighten(databasePath + suffix)
        }
    }

    /// Runs `body` while no other process is in it: creation and migrations happen once.
    func exclusively<T>(_ body: () throws(StoreError) -> T) throws(StoreError) -> T {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        try lock(descriptor)
        defer { flock(descriptor, LOCK_UN) }
        return try body()
    }

    private func makeDirectories() throws(StoreError) {
        guard !path.isEmpty else { throw .unusableDirectory(path: path, reason: "the path is empty") }
        for (index, character) in zip(path.indices, path) where character == "/" && index != path.startIndex {
            try makeDirectory(String(path[..<index]))
        }
        try makeDirectory(path)
    }

    private func makeDirectory(_ path: String) throws(StoreError) {
        guard mkdir(path, Self.directoryMode) != 0, errno != EEXIST else { return }
        let refusal = failure(path)
        var status = stat()
        // A read-only or foreign parent answers EROFS or EACCES even for what exists.
        guard stat(path, &status) == 0 else { throw refusal }
    }

    /// Makes the file without opening it: closing a descriptor of a database drops every lock this process has on it,
    /// those of another store among them.
    private func makeDatabaseFile() throws(StoreError) {
        guard mknod(databasePath, S_IFREG | Self.fileMode, 0) == 0 || errno == EEXIST else {
            throw failure(databasePath)
        }
        try tighten(databasePath)
    }

    private func tighten(_ file: String) throws(StoreError) {
        var status = stat()
        guard stat(file, &status) == 0 else {
            guard errno == ENOENT else { throw failure(file) }
            return
        }
        guard status.st_mode & 0o077 != 0 else { return }
        guard chmod(file, Self.fileMode) == 0 else { throw failure(file) }
    }

    private func lock(_ descriptor: Int32) throws(StoreError) {
        // Polled, not awaited: a stopped process must not stop this one for ever.
        let stepMilliseconds: Int32 = 10
        for _ in 0..<(Connection.busyTimeoutMilliseconds / stepMilliseconds) {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure(path) }
            usleep(useconds_t(stepMilliseconds) * 1_000)
        }
        throw .busy(operation: "store.open")
    }

    private func failure(_ path: String) -> StoreError {
        .unusableDirectory(path: path, reason: String(cString: strerror(errno)))
    }
}
