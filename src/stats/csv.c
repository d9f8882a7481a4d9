/* Results as CSV (RFC 4180, lines end in a newline only): one header row, units in the column
 * names, empty fields for what is not known, names quoted where they need it.
 */
#include <string.h>

#include "stats/output.h"

const char *const csv_names[N_CSV_FILES] = {"flows.csv",  "operations.csv", "ports.csv",
                                            "pauses.csv", "samples.csv",    "drops.csv"};

static void put_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* ",text", the variant being the first field of every row. */
static void put_field(FILE *out, const char *text)
{
    fputc(',', out);
    put_text(out, text);
}

static void put_int(FILE *out, int64_t value)
{
    fprintf(out, ",%lld", (long long)value);
}

static void put_count(FILE *out, uint64_t value)
{
    fprintf(out, ",%llu", (unsigned long long)value);
}

/* 17 significant digits read back to the same double. */
static void put_real(FILE *out, double value)
{
    fprintf(out, ",%.17g", value);
}

static void put_time(FILE *out, xoff_time t)
{
    if (t == XOFF_NEVER)
        fputc(',', out);
    else
        put_int(out, t);
}

static void put_port(FILE *out, uint32_t port)
{
    if (port == UINT32_MAX)
        fputc(',', out);
    else
        put_count(out, port);
}

static void write_flows(FILE *out, const struct results *r)
{
    for (uint64_t i = 0; i < r->n_flows; i++) {
        const struct result_flow *f = &r->flows[i];
        put_text(out, output_text(r->variant));
        put_field(out, output_node(r, f->from));
        put_field(out, output_node(r, f->to));
        put_count(out, f->number);
        put_field(out, output_tag(r, f->tag));
        put_count(out, f->priority);
        put_count(out, f->reliable);
        if (f->offered_bytes == UINT64_MAX)
            fputc(',', out);
        else
            put_count(out, f->offered_bytes);
        put_count(out, f->sent_bytes);
        put_count(out, f->delivered_bytes);
        put_time(out, f->start_at);
        put_time(out, f->finish_at);
        put_time(out, f->acked_at);
        put_time(out, output_is_finished(f) ? f->finish_at - f->start_at : XOFF_NEVER);
        put_time(out, f->ideal_for > 0 ? f->ideal_for : XOFF_NEVER);
        if (output_has_slowdown(f))
            put_real(out, output_slowdown(f));
        else
            fputc(',', out);
        put_count(out, f->marked_frames);
        put_count(out, f->retransmitted_frames);
        fputc('\n', out);
    }
}

static void write_operations(FILE *out, const struct results *r)
{
    for (uint64_t i = 0; i < r->n_operations; i++) {
        const struct result_operation *o = &r->operations[i];
        put_text(out, output_text(r->variant));
        put_field(out, output_node(r, o->host));
        put_field(out, output_tag(r, o->tag));
        put_count(out, o->bytes);
        put_time(out, o->start_at);
        put_time(out, o->finish_at);
        put_time(out, o->finish_at - o->start_at);
        fputc('\n', out);
    }
}

static void write_ports(FILE *out, const struct results *r)
{
    for (uint32_t i = 0; i < r->n_ports; i++) {
        const struct result_port *port = &r->ports[i];
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
            const struct result_queue *q = &port->queue[p];
            put_text(out, output_text(r->variant));
            put_field(out, output_node(r, port->node));
            put_port(out, port->port);
            put_field(out, output_node(r, port->peer_node));
            put_port(out, port->peer_port);
            put_count(out, port->rate_bps);
            put_time(out, port->busy_for);
            put_count(out, port->control_tx_frames);
            put_count(out, port->control_rx_frames);
            put_count(out, p);
            put_count(out, q->tx_frames);
            put_count(out, q->tx_bytes);
            put_count(out, q->marked_frames);
            put_int(out, q->queue_peak_bytes);
            put_count(out, q->rx_frames);
            put_count(out, q->rx_bytes);
            put_int(out, q->headroom_peak_bytes);
            put_int(out, q->headroom_bytes);
            put_count(out, q->pause_tx);
            put_count(out, q->resume_tx);
            put_count(out, q->pause_rx);
            put_count(out, q->resume_rx);
            put_time(out, q->paused_for);
            fputc('\n', out);
        }
    }
}

static void write_pauses(FILE *out, const struct results *r)
{
    char priorities[OUTPUT_PRIORITIES];
    for (uint64_t i = 0; i < r->n_pauses; i++) {
        const struct result_pause *p = &r->pauses[i];
        put_text(out, output_text(r->variant));
        put_count(out, i);
        put_time(out, p->at);
        put_field(out, output_node(r, p->node));
        put_port(out, p->port);
        put_field(out, output_priorities(p->priorities, priorities));
        put_field(out, p->pause ? "XOFF" : "XON");
        put_field(out, output_unit(p->unit));
        put_int(out, p->occupied_bytes);
        put_int(out, p->threshold_bytes);
        put_port(out, p->egress_port);
        if (p->egress_port == UINT32_MAX)
            fputs(",,", out);
        else
            fprintf(out, ",%u,%u", p->egress_priority, p->egress_paused);
        put_port(out, p->parent);
        fputc('\n', out);
    }
}

static void write_samples(FILE *out, const struct results *r)
{
    for (uint64_t i = 0; i < r->n_samples; i++) {
        const struct result_sample *s = &r->samples[i];
        put_text(out, output_text(r->variant));
        put_time(out, s->at);
        put_field(out, output_node(r, s->node));
        put_port(out, s->port);
        put_port(out, s->priority == 0xff ? UINT32_MAX : s->priority);
        put_field(out, output_sample_metric(s->metric));
        put_real(out, s->value);
        fputc('\n', out);
    }
}

static void write_drops(FILE *out, const struct results *r)
{
    for (uint32_t i = 0; i < r->n_drops; i++) {
        const struct result_drop *d = &r->drops[i];
        put_text(out, output_text(r->variant));
        put_field(out, output_node(r, d->node));
        put_port(out, d->port);
        put_port(out, d->out_port);
        put_count(out, d->priority);
        put_field(out, output_drop_cause(d->cause));
        put_count(out, d->lossless);
        put_count(out, d->frames);
        put_count(out, d->bytes);
        put_time(out, d->first_at);
        fputc('\n', out);
    }
}

static const struct {
    const char *header;
    void (*write)(FILE *out, const struct results *results);
} files[N_CSV_FILES] = {
    [CSV_FLOWS] =
        {"variant,from_node,to_node,number,traffic,priority,reliable,offered_bytes,"
         "sent_bytes,delivered_bytes,start_at_ps,finish_at_ps,acked_at_ps,fct_ps,ideal_ps,"
         "slowdown,marked_frames,retransmitted_frames\n",
         write_flows},
    [CSV_OPERATIONS] = {"variant,node,traffic,bytes,start_at_ps,finish_at_ps,duration_ps\n",
                        write_operations},
    [CSV_PORTS] = {"variant,node,port,peer_node,peer_port,rate_bps,busy_ps,pause_tx_pkts,"
                   "pause_rx_pkts,priority,queue_packets,queue_bytes,"
                   "queue_wred_ecn_marked_packets,queue_watermark_bytes,pg_packets,pg_bytes,"
                   "pg_xoff_room_watermark_bytes,pg_xoff_room_bytes,xoff_tx,xon_tx,"
                   "pfc_on2off_rx_pkts,xon_rx,pfc_rx_pause_duration_ps\n",
                   write_ports},
    [CSV_PAUSES] = {"variant,id,at_ps,node,port,priorities,decision,unit,occupied_bytes,"
                    "threshold_bytes,egress_port,egress_priority,egress_paused,parent_id\n",
                    write_pauses},
    [CSV_SAMPLES] = {"variant,at_ps,node,port,priority,metric,value\n", write_samples},
    [CSV_DROPS] = {"variant,node,port,out_port,priority,cause,lossless,frames,bytes,first_at_ps\n",
                   write_drops},
};

void csv_write(FILE *out, enum csv_file file, const struct results *const *runs, uint32_t n_runs)
{
    fputs(files[file].header, out);
    for (uint32_t i = 0; i < n_runs; i++)
        files[file].write(out, runs[i]);
}
