import Device
import Encoding
import Store
import Testing

@Suite struct `Devices and keys` {
    @Test func `a device comes back as it was stored`() throws {
        let store = try Store.inMemory()
        let camera = try Camera(
            queue: [.mismatch, .livenessFailed(reason: "a \"photo\""), .badCapture(.blurred)], fallback: .hang)
        let device = try Make.device(clock: .frozen(at: Make.now), camera: camera)
        try store.write { try $0.insert(device) }
        #expect(try store.read { try $0.device(device.id) } == device)
    }

    @Test func `an update stores what may change and refuses an unknown device`() throws {
        let store = try store(with: "pixel")
        var device = try Make.device(clock: .offset(seconds: -90))
        _ = device.camera.next()
        device.installKey = KeyHandle(rawValue: "dpop-2")
        let updated = device
        try store.write { try $0.update(updated) }
        #expect(try store.read { try $0.device(updated.id) } == updated)

        let stranger = try Make.device("stranger")
        #expect(throws: StoreError.missing(operation: "devices.update")) {
            try store.write { try $0.update(stranger) }
        }
    }

    @Test func `a taken name is refused`() throws {
        let store = try store(with: "pixel")
        let again = try Make.device("pixel")
        #expect(throws: StoreError.duplicate(operation: "devices.insert")) {
            try store.write { try $0.insert(again) }
        }
    }

    @Test func `devices are listed by name, page after page`() throws {
        let store = try store(with: "c", "a", "d", "b")
        let first = try store.read { try $0.devices(limit: 3) }
        #expect(first.map(\.id.rawValue) == ["a", "b", "c"])
        let rest = try store.read { reader in
            try reader.devices(limit: 3, after: first.last?.id)
        }
        #expect(rest.map(\.id.rawValue) == ["d"])
        #expect(try store.read { try $0.deviceCount() } == 4)
    }

    @Test func `removing a device takes everything of it and nothing of another`() throws {
        let store = try store(with: "gone", "kept")
        for name in ["gone", "kept"] {
            let (id, flow) = (try Make.id(name), try Make.flow("flow-\(name)", device: name))
            try store.write { writer in
                try writer.insert(Make.key(), for: id)
                try writer.insert(Make.enrolment(), for: id)
                try writer.replaceSession(of: id, with: Make.session())
                try writer.upsert(flow)
                try writer.setNonce("n", of: id, role: .resourceServer, origin: "https://api", at: Make.now)
                try writer.appendJournal(at: Make.now, device: id, flow: nil, kind: "made", body: [])
            }
        }
        let (gone, kept) = (try Make.id("gone"), try Make.id("kept"))
        #expect(try store.write { try $0.deleteDevice(gone) })
        #expect(try !store.write { try $0.deleteDevice(gone) })

        #expect(try held(by: gone, in: store) == 0)
        #expect(try held(by: kept, in: store) == 5)
        #expect(try store.read { try $0.journalEnd() } == 2)
    }

    private func held(by device: DeviceID, in store: Store) throws -> Int {
        try store.read { reader in
            let nonce = try reader.nonce(of: device, role: .resourceServer, origin: "https://api")
            let session = try reader.session(of: device)
            return try reader.keys(of: device).count + reader.enrolments(of: device).count
                + reader.flows(of: device, limit: 9).count + (nonce == nil ? 0 : 1) + (session == nil ? 0 : 1)
        }
    }

    @Test func `keys are found by device and handle, and withdrawn for good`() throws {
        let store = try store(with: "pixel", "other")
        let (pixel, other) = (try Make.id("pixel"), try Make.id("other"))
        let keys = [Make.key("dpop"), Make.key("key-1", purpose: .device), Make.key("key-2", purpose: .device)]
        try store.write { writer in
            for key in keys { try writer.insert(key, for: pixel) }
            try writer.insert(keys[0], for: other)
        }
        let withdrawn = try store.write { writer in
            try writer.invalidateKeys(of: pixel, purpose: .device)
        }
        #expect(withdrawn == 2)
        let after = try store.read { try $0.keys(of: pixel) }
        #expect(after.map(\.invalidated) == [false, true, true])
        #expect(try store.read { try $0.key(keys[0].handle, of: other) } == keys[0])

        #expect(try store.write { try $0.invalidateKeys(of: pixel) } == 1)
        #expect(try !store.write { try $0.invalidateKey(keys[0].handle, of: pixel) })
        #expect(try store.write { try $0.deleteKey(keys[1].handle, of: pixel) })
        #expect(try store.read { try $0.key(keys[1].handle, of: pixel) } == nil)
    }

    @Test func `a key of no device is refused`() throws {
        let store = try Store.inMemory()
        let nobody = try Make.id("nobody")
        #expect(throws: StoreError.missing(operation: "keys.insert")) {
            try store.write { try $0.insert(Make.key(), for: nobody) }
        }
    }
}

@Suite struct `Enrolments and sessions` {
    @Test func `enrolments are found by device and issuer, oldest first, though of one moment`() throws {
        let store = try store(with: "pixel", "other")
        let (pixel, other) = (try Make.id("pixel"), try Make.id("other"))
        let ours = [
            Make.enrolment(issuer: "https://b", kid: "3"), Make.enrolment(issuer: "https://a", kid: "2"),
            Make.enrolment(issuer: "https://a", kid: "1"),
        ]
        try store.write { writer in
            for enrolment in ours { try writer.insert(enrolment, for: pixel) }
            try writer.insert(ours[0], for: other)
        }
        try store.read { (reader) throws in
            #expect(try reader.enrolments(of: pixel) == ours)
            #expect(try reader.enrolments(of: pixel, issuer: "https://a") == Array(ours[1...2]))
            #expect(try reader.enrolments(of: pixel, issuer: "https://c") == [])
        }
        try store.write { (writer) throws in
            #expect(try writer.deleteEnrolment(kid: "2", issuer: "https://a", of: pixel))
            #expect(try !writer.deleteEnrolment(kid: "2", issuer: "https://b", of: pixel))
            #expect(try writer.enrolments(of: pixel) == [ours[0], ours[2]])
            try writer.insert(ours[1], for: pixel)
            #expect(try writer.enrolments(of: pixel) == [ours[0], ours[2], ours[1]])
            #expect(try writer.enrolments(of: other) == [ours[0]])
        }
    }

    @Test func `a new session replaces the old one whole and gives it back`() throws {
        let store = try store(with: "pixel")
        let pixel = try Make.id()
        let (first, second) = (Make.session(), Make.session(access: "access-2", refresh: nil))
        try store.write { (writer) throws in
            #expect(try writer.replaceSession(of: pixel, with: first) == nil)
            #expect(try writer.replaceSession(of: pixel, with: second) == first)
            #expect(try writer.session(of: pixel) == second)
            #expect(try writer.deleteSession(of: pixel) == second)
            #expect(try writer.deleteSession(of: pixel) == nil)
        }
        #expect(try store.read { try $0.session(of: pixel) } == nil)
    }

    @Test func `a session of no device is refused`() throws {
        let store = try Store.inMemory()
        let nobody = try Make.id("nobody")
        #expect(throws: StoreError.missing(operation: "sessions.insert")) {
            try store.write { writer in
                _ = try writer.replaceSession(of: nobody, with: Make.session())
            }
        }
    }
}
