// Shows who is in the cluster and what runs, as the stream tells it.

const stream = new EventSource("/api/stream");

stream.addEventListener("tick", (event) => {
  const { status } = JSON.parse(event.data);
  if (!status) return;
  document.getElementById("cluster").textContent =
    `${status.coordinator} leads ${status.daemons.length} daemons on ` +
    `${status.dataset}; running: ${status.running ?? "nothing"}`;
  document.getElementById("daemons").replaceChildren(
    ...status.daemons.map((daemon) => {
      const line = document.createElement("li");
      line.textContent = `${daemon.name}: ${daemon.state}`;
      return line;
    }));
});
