public import Device
import Glibc
import Synchronization

/// The right to renew one device's session, held by one owner among all processes on a state directory.
///
/// It is the system's lock, not a record: it ends with its process, however that ends, and needs no clock to be taken
/// over. Hold it from before the session is read until its successor is stored.
public final class RefreshLease: Sendable {
    private let locks: LeaseLocks
    private let place: Int64
    private let isHeld = Mutex(true)

    fileprivate init(_ locks: LeaseLocks, place: Int64) {
        self.locks = locks
        self.place = place
    }

    deinit { release() }

    /// Gives the right back; once is enough.
    public func release() {
        let wasHeld = isHeld.withLock { held in
            defer { held = false }
            return held
        }
        if wasHeld { locks.give(place) }
    }
}

extension Store {
    /// Takes the right to renew a device's session, or answers nil at once where somebody has it.
    ///
    /// Throws `unusableDirectory` where the lock file cannot be opened or locked.
    public func refreshLease(for device: DeviceID) throws(StoreError) -> RefreshLease? {
        let place = LeaseLocks.place(of: device)
        return try leases.take(place) ? RefreshLease(leases, place: place) : nil
    }
}

/// The locks behind leases: one byte of one file for each device, so that no device needs a file of its own.
///
/// Locks of an open file description (`fcntl(2)`) exclude other stores of this process as well as other processes; the
/// set of places excludes other owners within this store, and is all there is for a store in memory.
final class LeaseLocks: Sendable {
    private struct State {
        var file: Int32?
        var held: Set<Int64> = []
    }

    /// `F_OFD_SETLK`, which the headers show for `_GNU_SOURCE` only; the same number on every Linux.
    private static let setLock: Int32 = 37

    private let path: String?
    private let state = Mutex(State())

    /// Makes the locks of a directory, or with nil those of a store in memory; no file is opened yet.
    init(directory: String?) { path = directory.map { $0 + "/refresh.lock" } }

    deinit { state.withLock { if let file = $0.file { close(file) } } }

    /// Where in the file a device's byte is: FNV-1a of its name.
    ///
    /// Two devices that share a byte wait for each other.
    static func place(of device: DeviceID) -> Int64 {
        let hash = device.rawValue.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return Int64(hash >> 2)
    }

    func take(_ place: Int64) throws(StoreError) -> Bool {
        let outcome = state.withLock { state in
            Result { () throws(StoreError) in try take(place, &state) }
        }
        return try outcome.get()
    }

    private func take(_ place: Int64, _ state: inout State) throws(StoreError) -> Bool {
        guard !state.held.contains(place) else { return false }
        if let path {
            if state.file == nil { state.file = try open(path) }
            guard let file = state.file, try lock(file, place, F_WRLCK) else { return false }
        }
        state.held.insert(place)
        return true
    }

    func give(_ place: Int64) {
        state.withLock { state in
            state.held.remove(place)
            // Only a file that was closed could refuse, and then there is nothing to give back.
            if let file = state.file { _ = try? lock(file, place, F_UNLCK) }
        }
    }

    private func open(_ path: String) throws(StoreError) -> Int32 {
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, StoreDirectory.fileMode)
        guard file >= 0 else { throw failure(path) }
        return file
    }

    private func lock(_ file: Int32, _ place: Int64, _ kind: Int32) throws(StoreError) -> Bool {
        var range = flock()
        range.l_type = Int16(kind)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = off_t(place)
        range.l_len = 1
        while fcntl(file, Self.setLock, &range) != 0 {
            if errno == EINTR { continue }
            if errno == EAGAIN || errno == EACCES { return false }
            throw failure("refresh.lock")
        }
        return true
    }

    private func failure(_ path: String) -> StoreError {
        .unusableDirectory(path: path, reason: String(cString: strerror(errno)))
    }
}
