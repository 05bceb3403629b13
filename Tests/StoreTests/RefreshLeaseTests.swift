import Device
import Store
import Testing

@Suite struct `Refresh leases` {
    @Test func `one owner at a time has a device's lease, in one store and in several on a directory`() throws {
        let scratch = try ScratchDirectory()
        let (first, second) = (try Store(directory: scratch.store), try Store(directory: scratch.store))
        let (pixel, other) = (try Make.id("pixel"), try Make.id("other"))
        let lease = try #require(try first.refreshLease(for: pixel))
        #expect(try first.refreshLease(for: pixel) == nil)
        #expect(try second.refreshLease(for: pixel) == nil)
        let free = try #require(try second.refreshLease(for: other))
        lease.release()
        let taken = try #require(try second.refreshLease(for: pixel))
        #expect(try first.refreshLease(for: pixel) == nil)
        lease.release()
        #expect(try first.refreshLease(for: pixel) == nil)
        taken.release()
        free.release()
        #expect(try first.refreshLease(for: pixel) != nil)
    }

    @Test func `a lease nobody remembers is free, and so is one whose store is gone`() throws {
        let scratch = try ScratchDirectory()
        let second = try Store(directory: scratch.store)
        let id = try Make.id()
        do {
            let first = try Store(directory: scratch.store)
            let lease = try #require(try first.refreshLease(for: id))
            #expect(try second.refreshLease(for: id) == nil)
            withExtendedLifetime(lease) {}
        }
        #expect(try second.refreshLease(for: id) != nil)
    }

    @Test func `the lock file is its owner's alone`() throws {
        let scratch = try ScratchDirectory()
        let store = try Store(directory: scratch.store)
        _ = try store.refreshLease(for: try Make.id())
        #expect(try scratch.mode(scratch.store + "/refresh.lock") == 0o600)
    }

    @Test func `a store in memory has leases of its own`() throws {
        let store = try Store.inMemory()
        let id = try Make.id()
        let lease = try #require(try store.refreshLease(for: id))
        #expect(try store.refreshLease(for: id) == nil)
        lease.release()
        #expect(try store.refreshLease(for: id) != nil)
    }

    @Test func `a session is renewed or ended only while it is the stored one`() throws {
        let store = try store(with: "pixel")
        let id = try Make.id()
        let (old, new) = (Make.session(), Make.session(access: "access-2", refresh: "refresh-2"))
        #expect(try !store.write { try $0.renewSession(of: id, from: old, to: new) })
        #expect(try store.read { try $0.session(of: id) } == nil)
        _ = try store.write { try $0.replaceSession(of: id, with: old) }
        #expect(try store.write { try $0.renewSession(of: id, from: old, to: new) })
        #expect(try store.read { try $0.session(of: id) } == new)
        #expect(try !store.write { try $0.renewSession(of: id, from: old, to: old) })
        #expect(try !store.write { try $0.endSession(of: id, old) })
        #expect(try store.read { try $0.session(of: id) } == new)
        #expect(try store.write { try $0.endSession(of: id, new) })
        #expect(try store.read { try $0.session(of: id) } == nil)
    }
}
